#if os(Linux)
  internal import OperationCore

  extension NetlinkNetworkObserver {
    /// What counts as being connected.
    ///
    /// Whatever it is, the status is `requiresConnection` while it is not met but some interface runs, and `disconnected`
    /// while none does.
    public struct Requirement: Hashable, Sendable {
      let kind: NetworkTarget.Kind

      /// A way out: an interface that runs, has an address and a default route; or another route to the internet.
      public static let defaultRoute = Requirement(kind: .defaultRoute)

      /// An interface that runs and has an address: enough for services of the local network.
      ///
      /// Interfaces that are named like those of containers and virtual machines (`docker0`, `veth…`, `virbr0`) do not count.
      public static let address = Requirement(kind: .address)

      /// One interface, which has to run and have an address.
      public static func interface(_ name: String) -> Requirement {
        Requirement(kind: .interface(name))
      }

      /// A route to an address of IPv4 or IPv6, such as that of the one server that matters. Nothing is sent to it.
      ///
      /// Text that is no address, such as a name, is reported, and a default route is required instead.
      public static func route(to address: String) -> Requirement {
        if let destination = NetworkDestination(address) { return Requirement(kind: .route(destination)) }
        OperationWarning(
          code: .invalidArgument,
          message: """
            "\(address)" is no address of IPv4 or IPv6, so a default route is required instead of a route to it. Resolve \
            names before.
            """
        ).report()
        return .defaultRoute
      }
    }
  }
#endif
