/// The address that a program with devtools prints: `http://127.0.0.1:49152/?token=5c0e…`.
package struct DevtoolsAddress: Hashable, Sendable {
  package let port: UInt16
  package let token: String

  package init(port: UInt16, token: String) {
    self.port = port
    self.token = token
  }

  /// Reads an address; nil if it is none of a page on this machine.
  package init?(_ text: some StringProtocol) {
    let parts = text.split(separator: "?", maxSplits: 1)
    guard parts.count == 2, parts[0].hasPrefix("http://") else { return nil }
    let host = parts[0].dropFirst("http://".count).prefix { $0 != "/" }.split(separator: ":")
    guard host.count == 2, host[0] == "127.0.0.1" || host[0] == "localhost", let port = UInt16(host[1]), port > 0 else {
      return nil
    }
    let tokens = parts[1].split(separator: "&").filter { $0.hasPrefix("token=") }
    guard let token = tokens.first?.dropFirst("token=".count), !token.isEmpty else { return nil }
    self.init(port: port, token: String(token))
  }
}
