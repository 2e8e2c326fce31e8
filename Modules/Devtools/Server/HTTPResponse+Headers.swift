#if SwiftOperationDevtools
  internal import FlyingFox
  internal import OperationFoundation

  extension HTTPResponse {
    init(_ text: String, type: String) {
      self.init(statusCode: .ok, headers: Self.headers(type: type), body: Data(text.utf8))
    }

    init(events body: EventStreamBody) {
      self.init(statusCode: .ok, headers: Self.headers(type: "text/event-stream"), body: HTTPBodySequence(from: body))
    }

    static func text(_ text: String, status: Int) -> HTTPResponse {
      let code = HTTPStatusCode(status, phrase: "Refused")
      return HTTPResponse(statusCode: code, headers: self.headers(type: "text/plain"), body: Data("\(text)\n".utf8))
    }

    /// The headers of every response. No header lets a page of another origin read it.
    private static func headers(type: String) -> HTTPHeaders {
      var headers = HTTPHeaders()
      headers[.contentType] = "\(type); charset=utf-8"
      headers[.cacheControl] = "no-store"
      headers[HTTPHeader("Content-Security-Policy")] =
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; "
        + "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
      headers[HTTPHeader("Cross-Origin-Opener-Policy")] = "same-origin"
      headers[HTTPHeader("Cross-Origin-Resource-Policy")] = "same-origin"
      headers[HTTPHeader("Referrer-Policy")] = "no-referrer"
      headers[HTTPHeader("X-Content-Type-Options")] = "nosniff"
      headers[HTTPHeader("X-Frame-Options")] = "DENY"
      return headers
    }
  }
#endif
