#if SwiftOperationDevtools
  /// Decides who may talk to the page's server.
  ///
  /// Another page in the same browser can send requests to this machine, so the address alone proves nothing. A request has to name
  /// this server as its host (DNS rebinding), come from no other origin (cross-site requests), and bring the token. The files of
  /// the page are the same for all programs and contain nothing of the program, so they are there without it: a browser that loads the
  /// page again has nothing but the address without the token, which the script has kept.
  struct RequestGuard: Sendable {
    /// What a request says about itself.
    struct Claims: Sendable {
      var method = "GET"
      var path = "/"
      var host: String?
      var origin: String?
      /// The header `Sec-Fetch-Site`.
      var site: String?
      /// Whether a browser is about to show the answer as a page of its own, by `Sec-Fetch-Mode` and `Sec-Fetch-Dest`.
      var isNavigation = false
      /// The header `Authorization`.
      var authorization: String?
      /// The parameter `token` of the address.
      var queryToken: String?
    }

    enum Verdict: Hashable, Sendable {
      case allowed
      /// With the status and what is wrong.
      case refused(Int, String)
    }

    let token: String
    let port: UInt16

    func judge(_ claims: Claims) -> Verdict {
      guard let host = claims.host?.lowercased(), self.hosts.contains(host) else {
        return .refused(403, "The host of the request is not this server.")
      }
      if let origin = claims.origin, !self.hosts.contains(where: { origin == "http://\($0)" }) {
        return .refused(403, "The request comes from another origin.")
      }
      // A link of another page leads to this one. That page sees nothing of it.
      let isLink = claims.isNavigation && claims.method == "GET" && claims.path == "/"
      if let site = claims.site, site != "same-origin", site != "none", !isLink {
        return .refused(403, "The request comes from another site.")
      }
      guard ["GET", "POST"].contains(claims.method) else { return .refused(405, "The method is neither GET nor POST.") }
      guard self.isToken(self.token(of: claims)) || self.isPublic(claims) else {
        return .refused(401, "The token is missing or wrong: open the address that the program has printed.")
      }
      return .allowed
    }

    private var hosts: [String] { ["127.0.0.1:\(self.port)", "localhost:\(self.port)"] }

    /// Whether a request is for a file of the page, and brings no token that could be wrong.
    private func isPublic(_ claims: Claims) -> Bool {
      claims.method == "GET" && PageFile.all[claims.path] != nil && claims.queryToken == nil
    }

    /// The token, which only what a browser loads by itself may have in its address: the page, its style and its script.
    private func token(of claims: Claims) -> String? {
      if claims.path.hasPrefix("/api/") {
        guard let authorization = claims.authorization, authorization.hasPrefix("Bearer ") else { return nil }
        return String(authorization.dropFirst("Bearer ".count))
      }
      return claims.method == "GET" ? claims.queryToken : nil
    }

    /// Compares in a time that does not tell how many characters are right.
    private func isToken(_ text: String?) -> Bool {
      guard let text, text.utf8.count == self.token.utf8.count else { return false }
      return zip(text.utf8, self.token.utf8).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// Whether a chosen text can be a token: it cannot be guessed, and needs no escape in an address.
    static func isFit(_ token: String) -> Bool {
      let others = [UInt8(ascii: "-"), UInt8(ascii: "_")]
      return (16...128).contains(token.utf8.count)
        && token.utf8.allSatisfy { byte in
          (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
            || others.contains(byte)
        }
    }

    /// 128 random bits.
    static func makeToken() -> String {
      var generator = SystemRandomNumberGenerator()
      return (0..<2).map { _ in
        let digits = String(generator.next() as UInt64, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
      }.joined()
    }
  }
#endif
