"""One way to talk to any API server, embedded or attached.

Parts are written against ``Client``; which implementation they get, in-process or HTTP, is decided
in ``assembly``. ``client.http`` does I/O and is not exported here.
"""

from windtunnel.client.protocol import Client, Deliver, Write
from windtunnel.client.served import Served
from windtunnel.machinery.change import Change, ChangeType

__all__ = ["Change", "ChangeType", "Client", "Deliver", "Served", "Write"]
