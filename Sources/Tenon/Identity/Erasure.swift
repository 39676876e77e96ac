// SPDX-License-Identifier: Apache-2.0

// A service may demand that the keys of an identity that ends are removed, and not only set aside
// (decision: removed-keys). A marker is on disk before the first file is removed, so that the next holder of the lock
// finishes what a crash cut.
extension RecordStore {
    /// Removes all files of the identity but its lock: the record, the one before, keys, certificates, results, and what
    /// is in the attic.
    package func erase(_ held: FileLock.Held) throws(TenonError) {
        try check(held)
        try folder.write([], to: name.erasure)
        try finishErasure(held)
    }

    /// Finishes a removal that was begun; the first thing that each operation does.
    func finishErasure(_ held: FileLock.Held) throws(TenonError) {
        try check(held)
        guard folder.isThere(name.erasure) else { return }
        // Without a record there is no identity any more, whatever else is left of it.
        try folder.remove(name.record)
        let kept = [name.lock, name.erasure]
        for file in try folder.names() where file.hasPrefix(name.prefix) && !kept.contains(file) {
            try folder.remove(file)
        }
        let attic = try folder.attic()
        for file in try attic.names() where file.hasPrefix(name.prefix) { try attic.remove(file) }
        try attic.sync()
        try folder.sync()
        try folder.remove(name.erasure)
        try folder.sync()
    }
}
