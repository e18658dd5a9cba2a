#!/bin/sh
# Writes the secrets of docker-compose.yml where they are missing. They stay in deploy/compose/secrets, out of git.
set -eu
cd "$(dirname "$0")"
umask 077
mkdir -p secrets
random() { od -An -N24 -tx1 /dev/urandom | tr -d ' \n'; }
for name in postgres-password grafana-reader-password grafana-admin-password; do
    test -s "secrets/$name" || random >"secrets/$name"
done
test -s secrets/page-tokens || printf 'reader reader %s\nreviewer reviewer %s\nadmin admin %s\n' "$(random)" "$(random)" "$(random)" >secrets/page-tokens
# The folder lets nobody in; the files are mounted one by one, and each process reads its own as a user of its own.
chmod 444 secrets/*
echo "deploy/compose/secrets: page-tokens, postgres-password, grafana-reader-password, grafana-admin-password"
