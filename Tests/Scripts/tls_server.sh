#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tls_server.sh DIR NAME START END: makes in DIR ca.pem, a CA of its own, and server.pem with server.key for the host
# NAME, good from START to END (YYYYMMDDHHMMSSZ); server.spki is its SubjectPublicKeyInfo, DER.
set -eu

cd "$1"
cat > ca.conf << EOF
[req]
distinguished_name = subject
[subject]
[ca]
default_ca = own
[own]
database = index.txt
rand_serial = yes
new_certs_dir = .
certificate = ca.pem
private_key = ca.key
default_md = sha256
policy = any
email_in_dn = no
unique_subject = no
[any]
commonName = supplied
[authority]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign
subjectKeyIdentifier = hash
[server]
basicConstraints = critical, CA:FALSE
subjectAltName = DNS:$2, IP:127.0.0.2
EOF
: > index.txt
{
    openssl req -config ca.conf -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -out ca.pem \
        -subj "/CN=CA of a test" -days 3650 -extensions authority
    openssl req -config ca.conf -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout server.key -out server.csr \
        -subj "/CN=$2"
    openssl ca -config ca.conf -batch -notext -extensions server -startdate "$3" -enddate "$4" -in server.csr \
        -out server.pem
    openssl pkey -in server.key -pubout -outform DER -out server.spki
} > log 2>&1 || { cat log >&2; exit 1; }
