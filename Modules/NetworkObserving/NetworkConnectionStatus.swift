/// How well the network is connected.
public enum NetworkConnectionStatus: Hashable, Sendable, CaseIterable {
  /// No network is available.
  case disconnected

  /// An interface is running, but there is no way out through it yet: an address, a route or a login is missing.
  case requiresConnection

  /// The network is available.
  case connected
}

extension NetworkConnectionStatus: Comparable {}
