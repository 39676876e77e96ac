// SPDX-License-Identifier: Apache-2.0

// libtenon from Rust, without a crate: values as arrays, a key that frees itself, a status as an error.

use std::ffi::{c_void, CStr};
use std::os::raw::c_char; // as Debian 12 has Rust 1.63
use std::ptr;

type Digest = [u8; 32];
type PublicKey = [u8; 64];
type Signature = [u8; 64];

#[repr(C)]
struct KeyOps {
    size: usize,
    flags: u32,
    sign: extern "C" fn(*mut c_void, *mut Signature, *const Digest) -> i32,
    public_key: extern "C" fn(*mut c_void, *mut PublicKey) -> i32,
    free: Option<extern "C" fn(*mut c_void)>,
}

extern "C" {
    fn tenon_status_name(status: i32) -> *const c_char;
    fn tenon_status_category(status: i32) -> i32;
    fn tenon_digest_size() -> usize;
    fn tenon_public_key_size() -> usize;
    fn tenon_signature_size() -> usize;
    fn tenon_sha256(out: *mut Digest, data: *const u8, n: usize) -> i32;
    fn tenon_base64_encode(out: *mut u8, n: usize, written: *mut usize, data: *const u8, data_n: usize) -> i32;
    fn tenon_software_key_generate(out: *mut *mut c_void, flags: u32) -> i32;
    fn tenon_key_new(out: *mut *mut c_void, ops: *const KeyOps, context: *mut c_void) -> i32;
    fn tenon_key_public_key(key: *const c_void, out: *mut PublicKey) -> i32;
    fn tenon_key_sign_digest(key: *const c_void, out: *mut Signature, digest: *const Digest) -> i32;
    fn tenon_key_is_hardware(key: *const c_void) -> i32;
    fn tenon_key_free(key: *mut *mut c_void);
    fn tenon_p256_verify(key: *const PublicKey, digest: *const Digest, signature: *const Signature) -> i32;
}

const HARDWARE: u32 = 1;
const SIGNS_DIGESTS: u32 = 2;

fn name(status: i32) -> String {
    unsafe { CStr::from_ptr(tenon_status_name(status)) }.to_string_lossy().into_owned()
}

fn check(status: i32) -> Result<(), String> {
    if status == 0 { Ok(()) } else { Err(name(status)) }
}

fn sha256(data: &[u8]) -> Result<Digest, String> {
    let mut out = [0; 32];
    check(unsafe { tenon_sha256(&mut out, data.as_ptr(), data.len()) }).map(|_| out)
}

fn base64(data: &[u8], room: usize) -> Result<String, (String, usize)> {
    let (mut out, mut n) = (vec![0; room], 0);
    let status = unsafe { tenon_base64_encode(out.as_mut_ptr(), room, &mut n, data.as_ptr(), data.len()) };
    check(status).map_err(|error| (error, n))?;
    out.truncate(n);
    Ok(String::from_utf8(out).unwrap())
}

fn verify(key: &PublicKey, digest: &Digest, signature: &Signature) -> Result<(), String> {
    check(unsafe { tenon_p256_verify(key, digest, signature) })
}

struct Key(*mut c_void);

impl Drop for Key {
    fn drop(&mut self) {
        unsafe { tenon_key_free(&mut self.0) }
    }
}

impl Key {
    fn generate() -> Result<Key, String> {
        let mut key = Key(ptr::null_mut());
        check(unsafe { tenon_software_key_generate(&mut key.0, SIGNS_DIGESTS) }).map(|_| key)
    }

    /// A key that hands every call on to another, as an agent in front of hardware does.
    fn through(inner: &mut Key) -> Result<Key, String> {
        extern "C" fn sign(context: *mut c_void, out: *mut Signature, digest: *const Digest) -> i32 {
            unsafe { tenon_key_sign_digest((*(context as *const Key)).0, out, digest) }
        }
        extern "C" fn public_key(context: *mut c_void, out: *mut PublicKey) -> i32 {
            unsafe { tenon_key_public_key((*(context as *const Key)).0, out) }
        }
        let flags = HARDWARE | SIGNS_DIGESTS;
        let ops = KeyOps { size: std::mem::size_of::<KeyOps>(), flags, sign, public_key, free: None };
        let mut key = Key(ptr::null_mut());
        check(unsafe { tenon_key_new(&mut key.0, &ops, inner as *mut Key as *mut c_void) }).map(|_| key)
    }

    fn public_key(&self) -> Result<PublicKey, String> {
        let mut out = [0; 64];
        check(unsafe { tenon_key_public_key(self.0, &mut out) }).map(|_| out)
    }

    fn sign(&self, digest: &Digest) -> Result<Signature, String> {
        let mut out = [0; 64];
        check(unsafe { tenon_key_sign_digest(self.0, &mut out, digest) }).map(|_| out)
    }

    fn is_hardware(&self) -> bool {
        unsafe { tenon_key_is_hardware(self.0) == 1 }
    }
}

fn main() -> Result<(), String> {
    let (mut passed, mut failed) = (0, 0);
    let mut expect = |what: &str, holds: bool| {
        if holds { passed += 1 } else { failed += 1; println!("does not hold: {}", what) }
    };
    let sizes = unsafe { (tenon_digest_size(), tenon_public_key_size(), tenon_signature_size()) };
    expect("sizes", sizes == (32, 64, 64));
    expect("SHA-256 of abc (FIPS 180-4)", sha256(b"abc")?[..4] == [0xba, 0x78, 0x16, 0xbf]);
    expect("base64", base64(b"foob", 8) == Ok("Zm9vYg==".into()));
    expect("short buffer", base64(b"foob", 7) == Err(("TENON_ERROR_BUFFER_TOO_SMALL".into(), 8)));

    let mut key = Key::generate()?;
    let (public, digest) = (key.public_key()?, sha256(b"message")?);
    let signature = key.sign(&digest)?;
    expect("verifies", verify(&public, &digest, &signature).is_ok());
    expect("tampered", verify(&public, &sha256(b"massage")?, &signature) == Err("TENON_ERROR_SIGNATURE_INVALID".into()));
    expect("a software key says so", !key.is_hardware());
    let outer = Key::through(&mut key)?;
    expect("callbacks", verify(&public, &digest, &outer.sign(&digest)?).is_ok() && outer.is_hardware());

    let mut nothing: Digest = [0; 32];
    let status = unsafe { tenon_sha256(&mut nothing, ptr::null(), 1) };
    expect("NULL", name(status) == "TENON_ERROR_NULL" && unsafe { tenon_status_category(status) } == 1);
    println!("{} passed, {} failed", passed, failed);
    if failed == 0 { Ok(()) } else { Err("see above".into()) }
}
