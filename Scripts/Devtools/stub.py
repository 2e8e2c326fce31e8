"""A page that shows nothing and lets every origin read it: the canary of `Scripts/check-devtools`."""

import http.server


class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html" if self.path.startswith("/?") else "application/json")
        self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Access-Control-Allow-Headers", "*")
        self.end_headers()
        if self.command != "OPTIONS":
            self.wfile.write(b'{"extras":{"simulation":{"offline":false}}}')

    do_GET = do_POST = do_OPTIONS = answer

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(f"http://127.0.0.1:{server.server_port}/?token=00", flush=True)
server.serve_forever()
