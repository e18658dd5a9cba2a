"""A real Kafka with TLS, SCRAM and an authorizer: certificates of its own, users, and the rights they are given.

The plain listener stays for the tests themselves; whoever comes through it may do anything.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any, NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from kafka import KafkaAdminClient
from kafka.admin import (
    ACL,
    ACLOperation,
    ACLPermissionType,
    ResourcePattern,
    ResourceType,
    UserScramCredentialUpsertion,
)

from brokers import KafkaBroker
from service.settings import TopicNames
from services import ROOT

SCRAM = ("SCRAM-SHA-256", "SCRAM-SHA-512")
_MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule required;"
_ROW = re.compile(r"^\| (?P<who>[^|]+) \| (?P<on>[^|]+) \| (?P<may>[A-Z][A-Za-z, ]+) \|$", re.MULTILINE)


class Right(NamedTuple):
    """What README says somebody needs: a kind of resource, its usual name, and an operation."""

    kind: str
    name: str
    operation: str


class Certificate(NamedTuple):
    """A certificate and its key, each in a PEM file."""

    cert: Path
    key: Path


class Authority:
    """Makes certificates that its own, in `ca`, vouches for."""

    def __init__(self, folder: Path, name: str = "ca") -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        self.ca = folder / f"{name}.pem"
        self.ca.write_bytes(self._signed(self._name, self._key, x509.BasicConstraints(ca=True, path_length=0)))

    def certificate(self, name: str) -> Certificate:
        """Make one for a name, valid at 127.0.0.1."""
        key = ec.generate_private_key(ec.SECP256R1())
        made = Certificate(self._folder / f"{name}.pem", self._folder / f"{name}.key")
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        at = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
        made.cert.write_bytes(self._signed(subject, key, at))
        made.key.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        return made

    def _signed(self, subject: x509.Name, key: ec.EllipticCurvePrivateKey, extension: x509.ExtensionType) -> bytes:
        now = datetime.now(UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(hours=1))
            .not_valid_after(now + timedelta(days=1))
            .add_extension(extension, critical=isinstance(extension, x509.BasicConstraints))
        )
        return builder.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


class SecuredBroker:
    """The broker, and what its users need."""

    def __init__(self, broker: KafkaBroker, authority: Authority, folder: Path) -> None:
        self.bootstrap = broker.bootstrap
        self.authority = authority
        self._addresses = broker.addresses
        self._folder = folder

    def user(self, name: str, password: str, mechanism: str) -> dict[str, str]:
        """Make a user; return the settings it connects with, by SASL_SSL."""
        with self._admin() as admin:
            admin.alter_user_scram_credentials([UserScramCredentialUpsertion(name, mechanism, password)])
        return self.signed_in(name, password, mechanism)

    def signed_in(self, name: str, password: str, mechanism: str) -> dict[str, str]:
        """Return the settings to connect by SASL_SSL, whether or not there is such a user."""
        file = self._folder / f"{name}.password"
        file.write_text(password + "\n", "utf-8")
        return {
            "brokers": self._addresses["SASL"],
            "security_protocol": "SASL_SSL",
            "sasl_mechanism": mechanism,
            "sasl_username": name,
            "sasl_password_file": str(file),
            "ssl_ca_file": str(self.authority.ca),
        }

    def certified(self, name: str) -> dict[str, str]:
        """Return the settings of a client that shows a certificate; to the broker it is the user CN=`name`."""
        made = self.authority.certificate(name)
        return {
            "brokers": self._addresses["TLS"],
            "security_protocol": "SSL",
            "ssl_ca_file": str(self.authority.ca),
            "ssl_cert_file": str(made.cert),
            "ssl_key_file": str(made.key),
        }

    def allow(self, user: str, rights: Iterable[Right], names: Mapping[str, str]) -> None:
        """Give a user rights; `names` turns README's usual names into the ones at hand."""
        acls = [
            ACL(
                f"User:{user}",
                "*",
                ACLOperation[re.sub(r"(?<!^)(?=[A-Z])", "_", right.operation).upper()],
                ACLPermissionType.ALLOW,
                ResourcePattern(ResourceType[right.kind.upper()], names.get(right.name, right.name)),
            )
            for right in rights
        ]
        with self._admin() as admin:
            failed = admin.create_acls(acls)["failed"]
        assert not failed, failed

    def _admin(self) -> Any:
        return KafkaAdminClient(bootstrap_servers=self.bootstrap)


@contextmanager
def secured_broker(folder: Path) -> Iterator[SecuredBroker]:
    """Start the broker and end it."""
    authority = Authority(folder)
    shown = authority.certificate("broker")
    store = folder / "broker.store.pem"
    store.write_bytes(shown.key.read_bytes() + shown.cert.read_bytes())
    properties = {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(store),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(authority.ca),
        "listener.name.tls.ssl.client.auth": "required",
        "sasl.enabled.mechanisms": ",".join(SCRAM),
        **{f"listener.name.sasl.{each.lower()}.sasl.jaas.config": _MODULE for each in SCRAM},
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
    }
    with KafkaBroker(properties, {"SASL": "SASL_SSL", "TLS": "SSL"}) as broker:
        yield SecuredBroker(broker, authority, folder)


def rights() -> dict[str, list[Right]]:
    """Read README's table of rights: by who, each right of a row."""
    found: dict[str, list[Right]] = {}
    text = (ROOT / "README.md").read_text("utf-8").split("## Security", 1)[1].split("\n## ", 1)[0]
    for row in _ROW.finditer(text):
        kind = row["on"].split()[0] if row["on"][0] != "`" else "topic"
        for name in re.findall(r"`([^`]+)`", row["on"]) or ["kafka-cluster"]:
            for operation in row["may"].split(", "):
                found.setdefault(row["who"].strip("`"), []).append(Right(kind, name, operation.strip()))
    return found


def names(topics: TopicNames, group: str) -> dict[str, str]:
    """Return the names at hand by README's usual ones."""
    usual = {field.replace("_", "-"): name for field, name in topics._asdict().items() if field != "changelog"}
    groups = {f"turnjudge-{end}": f"{group}-{end}" for end in ("replay-unknown_character", "narrator", "spikes")}
    return usual | groups | {"turnjudge-entities-changelog": topics.changelog, "turnjudge": group}
