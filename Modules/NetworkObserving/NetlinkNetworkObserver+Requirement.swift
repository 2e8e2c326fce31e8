#if os(Linux)
  internal import OperationCore

  extension NetlinkNetworkObserver {
    /// The requirement for the status `connected`.
    ///
    /// If the requirement is not met, the status is `requiresConnection` while an interface is running, and
    /// `disconnected` while none is.
    public struct Requirement: Hashable, Sendable {
      let kind: NetworkTarget.Kind

      /// A running interface with an address and a default route, or another route to the internet.
      public static let defaultRoute = Requirement(kind: .defaultRoute)

      /// A running interface with an address: enough for services of the local network.
      ///
      /// Interfaces with typical names of containers and virtual machines (`docker0`, `veth…`, `virbr0`) do not count.
      public static let address = Requirement(kind: .address)

      /// One interface.
      ///
      /// - Parameter name: The name of the interface, such as `eth0`.
      /// - Returns: A requirement that is met while the interface is running and has an address.
      public static func interface(_ name: String) -> Requirement {
        Requirement(kind: .interface(name))
      }

      /// A route to an IPv4 or IPv6 address, such as your server's. Nothing is sent to it.
      ///
      /// - Parameter address: The address. Other text, such as a host name, is reported, and a default route is
      ///   required instead.
      /// - Returns: The requirement of a route to this address.
      public static func route(to address: String) -> Requirement {
        if let destination = NetworkDestination(address) { return Requirement(kind: .route(destination)) }
        OperationWarning(
          code: .invalidArgument,
          message: """
            "\(address)" is not an IPv4 or IPv6 address, so a default route is required instead of a route to it. \
            Resolve a host name before, and pass its address.
            """
        ).report()
        return .defaultRoute
      }
    }
  }
#endif
