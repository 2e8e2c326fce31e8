#if SwiftOperationDevtools
  /// What the page's server answers to a request. The connection ends behind it.
  struct PageResponse: Sendable {
    enum Body: Sendable {
      case text(String)
      /// Messages as they come, in the form of server-sent events.
      case events(FeedConnection)
    }

    let status: Int
    let type: String
    let body: Body

    init(_ text: String, type: String) {
      (self.status, self.type, self.body) = (200, type, .text(text))
    }

    init(events: FeedConnection) {
      (self.status, self.type, self.body) = (200, "text/event-stream", .events(events))
    }

    init(_ refusal: PageRefusal) {
      (self.status, self.type, self.body) = (refusal.status, "text/plain", .text("\(refusal.reason)\n"))
    }

    /// The status line, the fields, and the text of the body.
    var bytes: [UInt8] {
      var lines = ["HTTP/1.1 \(self.status) \(self.status == 200 ? "OK" : "Refused")"]
      lines.append("Content-Type: \(self.type); charset=utf-8")
      var text = ""
      if case .text(let whole) = self.body {
        text = whole
        lines.append("Content-Length: \(whole.utf8.count)")
      }
      lines += Self.fields
      return Array((lines + ["", text]).joined(separator: "\r\n").utf8)
    }

    /// The fields of every response. None lets a page of another origin read it.
    private static let fields = [
      "Cache-Control: no-store",
      "Connection: close",
      "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        + "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        + "require-trusted-types-for 'script'; trusted-types 'none'",
      "Cross-Origin-Opener-Policy: same-origin",
      "Cross-Origin-Resource-Policy: same-origin",
      "Referrer-Policy: no-referrer",
      "X-Content-Type-Options: nosniff",
      "X-Frame-Options: DENY",
    ]
  }
#endif
