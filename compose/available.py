"""The container's health: 0 if the service says that it can answer."""

import http.client
import sys

port = int(sys.argv[1]) if len(sys.argv) > 1 else 8000
connection = http.client.HTTPConnection("127.0.0.1", port, timeout=6)
connection.request("GET", "/tap/availability")
document = connection.getresponse().read()
sys.exit(0 if b"available>true<" in document else 1)
