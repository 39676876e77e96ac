// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
internal import Tenon

/// The phases of a load, one after the other, on devices that stay the same.
struct Load {
    let crew: Crew
    let target: Target
    let devices: [LoadDevice]
    let path: String

    /// Blocks while keys and certificates are made.
    init(_ options: Options, maker: Maker?) throws(TenonError) {
        crew = Crew(instances: options.instances, connections: options.connections)
        target = Target(origin: options.origin ?? options.instances[0].url, app: options.app)
        path = options.path
        var devices: [LoadDevice] = []
        for number in 0..<options.devices { devices.append(try LoadDevice(target, maker?.tpm(number))) }
        self.devices = devices
    }

    /// The same load, signed for another path.
    init(_ other: Load, path: String) {
        (crew, target, devices) = (other.crew, other.target, other.devices)
        self.path = path
    }

    /// A challenge and its answer, both over the same connection.
    func register() -> Samples {
        crew.run(devices.count, as: "register") { [devices] index, lines throws(TenonError) in
            let device = devices[index]
            let challenge = try lines.exchange(try device.challenge())
            guard challenge.status == 200 else { return }
            let answer = try lines.exchange(try device.registration(challenge))
            if answer.status == 200 { try device.registered(answer) }
        }
    }

    func sign(_ count: Int, as phase: String? = nil) -> Samples {
        let body = [UInt8](repeating: UInt8(ascii: "x"), count: 256)
        return crew.run(count, as: phase) { [devices, path] index, lines throws(TenonError) in
            _ = try lines.exchange(try devices[index % devices.count].request("POST", path, body))
        }
    }

    func rotate() -> Samples {
        crew.run(devices.count, as: "rotate") { [devices] index, lines throws(TenonError) in
            let device = devices[index]
            let rotation = try device.rotation()
            if try lines.exchange(rotation.request).status == 200 { device.rotated(to: rotation.key) }
        }
    }
}
