/* SPDX-License-Identifier: Apache-2.0 */

/* libtenon from C++17: the headers without a warning, handles in a unique_ptr, statuses as exceptions. */
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/tenon.h"

namespace
{

struct error : std::runtime_error {
    explicit error(tenon_status code) : std::runtime_error(tenon_status_name(code)), status(code)
    {
    }
    tenon_status status;
};

void check(tenon_status status)
{
    if (status != TENON_OK)
        throw error(status);
}

struct free_key {
    void operator()(tenon_key *key) const
    {
        tenon_key_free(&key);
    }
};

struct free_verifier {
    void operator()(tenon_verifier *verifier) const
    {
        tenon_verifier_free(&verifier);
    }
};

using key_ptr = std::unique_ptr<tenon_key, free_key>;
using verifier_ptr = std::unique_ptr<tenon_verifier, free_verifier>;

key_ptr generate(std::uint32_t flags)
{
    tenon_key *key = nullptr;
    check(tenon_software_key_generate(&key, flags));
    return key_ptr(key);
}

tenon_digest sha256(std::string_view text)
{
    tenon_digest digest;
    check(tenon_sha256(&digest, reinterpret_cast<const std::uint8_t *>(text.data()), text.size()));
    return digest;
}

std::string hex(const tenon_digest &digest)
{
    std::array<char, 2 * TENON_DIGEST_SIZE> text;
    std::size_t n = 0;
    check(tenon_hex_encode(text.data(), text.size(), &n, digest.bytes, sizeof digest.bytes));
    return std::string(text.data(), n);
}

int passed = 0, failed = 0;

void expect(const char *what, bool holds)
{
    (holds ? passed : failed)++;
    if (!holds)
        std::printf("does not hold: %s\n", what);
}

void digests()
{
    expect("SHA-256 of abc (FIPS 180-4)",
           hex(sha256("abc")) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

void short_buffer()
{
    std::array<std::uint8_t, 4> bytes{9, 9, 9, 9};
    std::size_t n = 0;
    expect("too short says what is needed",
           tenon_base64_decode(bytes.data(), 2, &n, "Zm9v", 4) == TENON_ERROR_BUFFER_TOO_SMALL && n == 3);
    expect("too short writes nothing", std::count(bytes.begin(), bytes.end(), 9) == 4);
    expect("exact is enough", tenon_base64_decode(bytes.data(), 3, &n, "Zm9v", 4) == TENON_OK && n == 3);
    expect("nothing behind the end", bytes[3] == 9);
}

void sign_and_verify()
{
    key_ptr key = generate(TENON_KEY_SIGNS_DIGESTS);
    tenon_public_key public_key;
    tenon_signature signature;
    tenon_digest digest = sha256("message");
    check(tenon_key_public_key(key.get(), &public_key));
    check(tenon_key_sign_digest(key.get(), &signature, &digest));
    expect("a software key says so", tenon_key_is_hardware(key.get()) == 0);
    tenon_verifier *made = nullptr;
    check(tenon_verifier_new(&made, &public_key));
    verifier_ptr verifier(made);
    expect("verifies", tenon_verifier_verify(verifier.get(), &digest, &signature) == TENON_OK);
    digest.bytes[0] ^= 1;
    expect("tampered", tenon_verifier_verify(verifier.get(), &digest, &signature) == TENON_ERROR_SIGNATURE_INVALID);
}

void headers()
{
    constexpr std::string_view method = "POST", path = "/v1/events", time = "1740000000", app = "demo",
                               device = "dev_1";
    key_ptr key = generate(0);
    tenon_request request;
    tenon_signature signature;
    std::array<char, TENON_UUID_SIZE> nonce;
    std::size_t n = 0;
    check(tenon_request_begin(&request, method.data(), method.size(), path.data(), path.size(), time.data(),
                              time.size()));
    check(tenon_key_sign_request(key.get(), &signature, &request));
    check(tenon_request_nonce(nonce.data(), nonce.size(), &n));
    std::vector<char> out(tenon_headers_max());
    tenon_header_offsets at;
    check(tenon_request_headers(out.data(), out.size(), &n, &at, &signature, app.data(), app.size(), device.data(),
                                device.size(), time.data(), time.size(), nonce.data(), nonce.size()));
    expect("app id", &out[at.app_id] == app);
    expect("device id", &out[at.device_id] == device);
    expect("timestamp", &out[at.timestamp] == time);
    expect("version", &out[at.version] == std::string_view("1") && n == at.version + 2);
}

void errors()
{
    try {
        check(tenon_sha256(nullptr, nullptr, 0));
        expect("a NULL output is refused", false);
    } catch (const error &caught) {
        expect("a NULL output is refused", caught.status == TENON_ERROR_NULL);
        expect("its name", std::string_view(caught.what()) == "TENON_ERROR_NULL");
        expect("its category", tenon_status_category(caught.status) == TENON_CATEGORY_ARGUMENT);
    }
}

} // namespace

int main()
{
    for (auto test : {digests, short_buffer, sign_and_verify, headers, errors})
        test();
    std::printf("%d passed, %d failed\n", passed, failed);
    return failed == 0 ? 0 : 1;
}
