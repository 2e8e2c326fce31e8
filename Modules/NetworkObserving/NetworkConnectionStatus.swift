/// How well the network is connected.
public enum NetworkConnectionStatus: Hashable, Sendable, CaseIterable {
  /// There is no network.
  case disconnected

  /// There is something to connect to, but no way out through it yet: an address, a route or a login is missing.
  case requiresConnection

  /// The network is there.
  case connected
}

extension NetworkConnectionStatus: Comparable {}
