// SPDX-License-Identifier: Apache-2.0

//! sign TCTI KEY-FILE APP DEVICE METHOD PATH < body > request
//!
//! Signs a request with a key that lives in a TPM, and writes the request as it goes on the wire. The first run makes
//! the key; give a verifier KEY-FILE.pub, its public half. Uses no crates; link with tenon and tenon-tpm.

use std::ffi::{c_void, CStr};
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::os::raw::c_char;
use std::os::unix::fs::OpenOptionsExt;
use std::time::{SystemTime, UNIX_EPOCH};
use std::{env, mem, process, ptr};

#[repr(C)]
struct TpmOptions {
    size: usize,
    allow_simulator: u32,
    session: u32,
    deadline_ms: u32,
    owner_auth: *const u8,
    owner_auth_n: usize,
    endorsement_auth: *const u8,
    endorsement_auth_n: usize,
}

type Out = (*mut u8, usize, *mut usize);
type PublicKey = [u8; 64];
type Signature = [u8; 64];
type Request = [u64; 16];

extern "C" {
    fn tenon_status_name(status: i32) -> *const c_char;
    fn tenon_status_text(status: i32) -> *const c_char;
    fn tenon_status_category(status: i32) -> i32;
    fn tenon_request_size() -> usize;
    fn tenon_tpm_open(out: *mut *mut c_void, name: *const u8, name_n: usize, options: *const TpmOptions) -> i32;
    fn tenon_tpm_key_create(tpm: *mut c_void, out: *mut *mut c_void, auth: *const u8, auth_n: usize) -> i32;
    fn tenon_tpm_key_load(
        tpm: *mut c_void, out: *mut *mut c_void, pem: *const u8, pem_n: usize, auth: *const u8, auth_n: usize,
    ) -> i32;
    fn tenon_tpm_key_export(key: *const c_void, out: *mut u8, n: usize, written: *mut usize) -> i32;
    fn tenon_tpm_key_open(tpm_key: *mut c_void, out: *mut *mut c_void, flags: u32) -> i32;
    fn tenon_key_public_key(key: *const c_void, out: *mut PublicKey) -> i32;
    fn tenon_key_sign_request(key: *const c_void, out: *mut Signature, request: *mut Request) -> i32;
    fn tenon_public_key_encode_spki(out: *mut u8, n: usize, written: *mut usize, key: *const PublicKey) -> i32;
    fn tenon_signature_encode_der(out: *mut u8, n: usize, written: *mut usize, signature: *const Signature) -> i32;
    fn tenon_base64_encode(out: *mut u8, n: usize, written: *mut usize, data: *const u8, data_n: usize) -> i32;
    fn tenon_request_nonce(out: *mut u8, n: usize, written: *mut usize) -> i32;
    fn tenon_request_begin(
        request: *mut Request, method: *const u8, method_n: usize, path: *const u8, path_n: usize,
        timestamp: *const u8, timestamp_n: usize,
    ) -> i32;
    fn tenon_request_update(request: *mut Request, body: *const u8, n: usize) -> i32;
    fn tenon_key_free(key: *mut *mut c_void);
    fn tenon_tpm_key_free(key: *mut *mut c_void);
    fn tenon_tpm_free(tpm: *mut *mut c_void);
}

/// What went wrong, and the exit code: the status's category, so that a caller can tell "busy" from "gone".
struct Failure(String, i32);

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure(error.to_string(), 9)
    }
}

fn check(status: i32) -> Result<(), Failure> {
    let text = |text: *const c_char| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
    match status {
        0 => Ok(()),
        _ => unsafe {
            let (name, why) = (text(tenon_status_name(status)), text(tenon_status_text(status)));
            Err(Failure(format!("{}: {}", name, why), tenon_status_category(status)))
        },
    }
}

/// Asks for the size of an output, then for the output.
fn bytes(give: impl Fn(Out) -> i32) -> Result<Vec<u8>, Failure> {
    let mut n = 0;
    give((ptr::null_mut(), 0, &mut n));
    let mut out = vec![0; n];
    check(give((out.as_mut_ptr(), out.len(), &mut n)))?;
    out.truncate(n);
    Ok(out)
}

fn text(give: impl Fn(Out) -> i32) -> Result<String, Failure> {
    bytes(give).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

fn base64(data: &[u8]) -> Result<String, Failure> {
    text(|(out, n, written)| unsafe { tenon_base64_encode(out, n, written, data.as_ptr(), data.len()) })
}

/// A handle that frees itself.
struct Handle(*mut c_void, unsafe extern "C" fn(*mut *mut c_void));

impl Handle {
    fn new(
        free: unsafe extern "C" fn(*mut *mut c_void), make: impl FnOnce(*mut *mut c_void) -> i32,
    ) -> Result<Handle, Failure> {
        let mut handle = Handle(ptr::null_mut(), free);
        check(make(&mut handle.0)).map(|_| handle)
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        unsafe { (self.1)(&mut self.0) }
    }
}

fn open_tpm(name: &str) -> Result<Handle, Failure> {
    let options = TpmOptions {
        size: mem::size_of::<TpmOptions>(),
        allow_simulator: name.starts_with("swtpm:") as u32, // an agent for real devices leaves it 0
        session: 0,
        deadline_ms: 0,
        owner_auth: ptr::null(),
        owner_auth_n: 0,
        endorsement_auth: ptr::null(),
        endorsement_auth_n: 0,
    };
    Handle::new(tenon_tpm_free, |out| unsafe { tenon_tpm_open(out, name.as_ptr(), name.len(), &options) })
}

fn write_new(path: &str, content: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(content)?;
    file.sync_all()
}

/// Loads the key from the file, or makes a new one and writes it there before anybody else knows it. Only this TPM can
/// use the file. It is never replaced, because a service may hold the key.
fn key_of(tpm: &Handle, path: &str) -> Result<Handle, Failure> {
    let made = match fs::read(path) {
        Ok(pem) => Handle::new(tenon_tpm_key_free, |out| unsafe {
            tenon_tpm_key_load(tpm.0, out, pem.as_ptr(), pem.len(), ptr::null(), 0)
        })?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let made = Handle::new(tenon_tpm_key_free, |out| unsafe { tenon_tpm_key_create(tpm.0, out, ptr::null(), 0) })?;
            write_new(path, &bytes(|(out, n, written)| unsafe { tenon_tpm_key_export(made.0, out, n, written) })?)?;
            made
        }
        Err(error) => return Err(error.into()),
    };
    Handle::new(tenon_key_free, |out| unsafe { tenon_tpm_key_open(made.0, out, 0) })
}

fn write_public(key: &Handle, path: &str) -> Result<(), Failure> {
    let mut public: PublicKey = [0; 64];
    check(unsafe { tenon_key_public_key(key.0, &mut public) })?;
    let spki = bytes(|(out, n, written)| unsafe { tenon_public_key_encode_spki(out, n, written, &public) })?;
    Ok(fs::write(path, base64(&spki)? + "\n")?)
}

fn sign(key: &Handle, method: &str, path: &str, timestamp: &str, body: &[u8]) -> Result<String, Failure> {
    assert_eq!(unsafe { tenon_request_size() }, mem::size_of::<Request>());
    let (mut request, mut signature): (Request, Signature) = ([0; 16], [0; 64]);
    check(unsafe {
        tenon_request_begin(
            &mut request, method.as_ptr(), method.len(), path.as_ptr(), path.len(), timestamp.as_ptr(), timestamp.len(),
        )
    })?;
    check(unsafe { tenon_request_update(&mut request, body.as_ptr(), body.len()) })?;
    check(unsafe { tenon_key_sign_request(key.0, &mut signature, &mut request) })?;
    base64(&bytes(|(out, n, written)| unsafe { tenon_signature_encode_der(out, n, written, &signature) })?)
}

fn run(arguments: &[String]) -> Result<(), Failure> {
    let [tcti, file, app, device, method, path] = match arguments {
        [a, b, c, d, e, f] => [a, b, c, d, e, f],
        _ => return Err(Failure("usage: sign TCTI KEY-FILE APP DEVICE METHOD PATH < body".into(), 1)),
    };
    let tpm = open_tpm(tcti)?;
    let key = key_of(&tpm, file)?;
    write_public(&key, &format!("{}.pub", file))?;
    let mut body = Vec::new();
    io::stdin().read_to_end(&mut body)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_err(|error| Failure(error.to_string(), 9))?;
    let timestamp = now.as_secs().to_string();
    let nonce = text(|(out, n, written)| unsafe { tenon_request_nonce(out, n, written) })?;
    let signature = sign(&key, method, path, &timestamp, &body)?;
    let mut request = format!("{} {} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n", method, path, body.len());
    for (name, value) in [
        ("X-App-ID", app.as_str()),
        ("X-Device-ID", device),
        ("X-Synheart-Signature", &signature),
        ("X-Synheart-Timestamp", &timestamp),
        ("X-Synheart-Nonce", &nonce),
        ("X-Synheart-Sig-Version", "1"),
    ] {
        request += &format!("{}: {}\r\n", name, value);
    }
    let mut out = io::stdout();
    out.write_all(request.as_bytes())?;
    out.write_all(b"\r\n")?;
    Ok(out.write_all(&body)?)
}

fn main() {
    if let Err(Failure(why, code)) = run(&env::args().skip(1).collect::<Vec<_>>()) {
        eprintln!("sign: {}", why);
        process::exit(code);
    }
}
