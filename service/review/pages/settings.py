"""What the page needs from the environment: where its rows are, where it listens, who may come in."""

from typing import Annotated, Final

from pydantic import Field
from pydantic_settings import BaseSettings

from service.settings import FROM_ENVIRONMENT, Address, Expected, File, Port, Ttl

_URL: Final = "sqlite:///turnjudge.db"

_Text = Annotated[str, Field(min_length=1), Expected("text")]
_Hosts = Annotated[str, Expected("host names, comma-separated")]
_Bytes = Annotated[int, Field(ge=1_024, le=16 * 1024**3), Expected("a number of bytes from 1024 to 17179869184")]
_Days = Annotated[Annotated[int, Field(ge=1, le=36_500)] | None, Expected("a whole number of days from 1 to 36500")]
_Minutes = Annotated[int, Field(ge=-1_080, le=1_080), Expected("a whole number of minutes from -1080 to 1080")]


class PageSettings(BaseSettings):
    """What `turnjudge page` is set up by."""

    model_config = FROM_ENVIRONMENT

    page_db: _Text = Field(_URL, description="database, sqlite:///FILE or postgresql://USER:PASSWORD@HOST/NAME")
    page_host: Address = Field("127.0.0.1", description="address to listen on; without a login only a loopback one")
    page_port: Port = Field(8765, description="port to listen on; 0 takes a free one")
    page_hosts: _Hosts = Field(
        "", description="host names the page is asked for by, comma-separated, beside its address"
    )
    page_token_file: File = Field(None, description="file of those who may log in, a line each: NAME ROLE TOKEN")
    page_proxy_secret_file: File = Field(
        None, description="file with the secret by which a proxy that has checked the login is known"
    )
    page_proxy_user_header: _Text = Field("X-Forwarded-User", description="header in which that proxy names the user")
    page_max_upload_bytes: _Bytes = Field(64 * 1024**2, description="largest upload, in bytes")
    page_utc_offset_minutes: _Minutes = Field(
        540, description="the page's time zone, in minutes before UTC (540: Seoul)"
    )
    page_retention_days: _Days = Field(
        None, description="days after which turns and the access log are removed from the page; for ever if not set"
    )
    entity_ttl_s: Ttl = Field(
        30 * 86_400, description="how long the workers remember a name, in seconds of record time"
    )
