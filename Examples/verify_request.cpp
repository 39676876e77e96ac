/* SPDX-License-Identifier: Apache-2.0 */

/*
 * verify_request KEY REQUEST...
 *
 * Says whether each REQUEST, a file with an HTTP request, comes from the device. KEY is the device's public key, base64
 * of its SubjectPublicKeyInfo, as the service that registered the device gives it. A server must check what this
 * program checks: the signature, the time, and that no request is accepted twice.
 */
#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>

#include <tenon/tenon.h>

namespace
{

struct refusal : std::runtime_error {
    using std::runtime_error::runtime_error;
};

void check(tenon_status status)
{
    if (status != TENON_OK)
        throw refusal(tenon_status_name(status));
}

struct free_verifier {
    void operator()(tenon_verifier *verifier) const
    {
        tenon_verifier_free(&verifier);
    }
};

const std::uint8_t *bytes(std::string_view text)
{
    return reinterpret_cast<const std::uint8_t *>(text.data());
}

std::string base64_decoded(std::string_view text)
{
    std::string out(text.size(), '\0');
    std::size_t n = 0;
    check(tenon_base64_decode(reinterpret_cast<std::uint8_t *>(out.data()), out.size(), &n, text.data(), text.size()));
    out.resize(n);
    return out;
}

/* A server's framework does this. */
struct request {
    std::string method, path, body;
    std::map<std::string, std::string> headers;

    explicit request(std::string_view text)
    {
        const auto end = text.find("\r\n\r\n");
        if (end == text.npos)
            throw refusal("not a signed request");
        body = text.substr(end + 4);
        std::string_view head = text.substr(0, end + 2);
        const auto first = next(head);
        const auto space = first.find(' '), second = first.find(' ', space + 1);
        if (second == first.npos)
            throw refusal("not a signed request");
        method = first.substr(0, space);
        path = first.substr(space + 1, second - space - 1);
        while (!head.empty())
            add(next(head));
    }

    const std::string &header(const char *name) const
    {
        const auto found = headers.find(name);
        if (found == headers.end())
            throw refusal("not a signed request");
        return found->second;
    }

  private:
    static std::string_view next(std::string_view &rest)
    {
        const auto end = rest.find("\r\n");
        const auto line = rest.substr(0, end);
        rest.remove_prefix(end + 2);
        return line;
    }

    void add(std::string_view line)
    {
        const auto colon = line.find(": ");
        std::string name(line.substr(0, colon));
        std::transform(name.begin(), name.end(), name.begin(),
                       [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
        if (colon == line.npos || !headers.emplace(name, line.substr(colon + 2)).second)
            throw refusal("not a signed request");
    }
};

/* Verifies the requests of one device. A server with several processes keeps what was seen in a place for all. */
class judge
{
  public:
    explicit judge(std::string_view key_text)
    {
        const std::string spki = base64_decoded(key_text);
        tenon_public_key key;
        check(tenon_public_key_decode_spki(&key, bytes(spki), spki.size()));
        tenon_verifier *made = nullptr;
        check(tenon_verifier_new(&made, &key));
        verifier.reset(made);
    }

    void accept(const request &got)
    {
        const auto &timestamp = got.header("x-synheart-timestamp"), &nonce = got.header("x-synheart-nonce");
        tenon_request message;
        tenon_digest digest;
        check(tenon_request_begin(&message, got.method.data(), got.method.size(), got.path.data(), got.path.size(),
                                  timestamp.data(), timestamp.size()));
        check(tenon_request_update(&message, bytes(got.body), got.body.size()));
        check(tenon_request_finish(&message, &digest));
        const auto now = std::chrono::system_clock::now().time_since_epoch();
        if (std::abs(std::chrono::duration_cast<std::chrono::seconds>(now).count() - std::stoll(timestamp)) > 300)
            throw refusal("the timestamp is too far from now");
        const std::string der = base64_decoded(got.header("x-synheart-signature"));
        tenon_signature signature;
        check(tenon_signature_decode_der(&signature, bytes(der), der.size()));
        check(tenon_verifier_verify(verifier.get(), &digest, &signature));
        /*
         * After the signature; otherwise anyone could use up a nonce. The nonce is not signed: a request that is sent
         * again with another one has the same r, which nobody can change without the key.
         */
        const std::string r(signature.bytes, signature.bytes + TENON_SCALAR_SIZE);
        if (!seen.insert(r).second || !seen.insert(nonce).second)
            throw refusal("it was made before");
    }

  private:
    std::unique_ptr<tenon_verifier, free_verifier> verifier;
    std::set<std::string> seen; /* each for as long as its timestamp is valid; drop older ones */
};

} // namespace

int main(int count, char **arguments)
{
    if (count < 3) {
        std::cerr << "usage: verify_request KEY REQUEST...\n";
        return TENON_CATEGORY_ARGUMENT;
    }
    int result = 0;
    try {
        judge device(arguments[1]);
        for (int i = 2; i < count; i++) {
            std::ifstream file(arguments[i], std::ios::binary);
            const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
            std::cout << arguments[i] << ": ";
            try {
                device.accept(request(text));
                std::cout << "valid\n";
            } catch (const refusal &why) {
                std::cout << "refused: " << why.what() << "\n";
                result = TENON_CATEGORY_REJECTED;
            }
        }
    } catch (const refusal &why) {
        std::cerr << "verify_request: " << why.what() << "\n";
        return TENON_CATEGORY_ARGUMENT;
    }
    return result;
}
