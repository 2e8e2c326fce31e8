#if SwiftOperationDevtools
  public import OperationCore
  public import OperationFoundation
  internal import OperationMemoryPressure

  /// Lets a program meet bad conditions: no network, latency, failures, little memory.
  ///
  /// Create a client with it. Nothing differs for the client until ``settings`` are changed, by the program or on the page of
  /// ``Devtools``.
  ///
  /// ```swift
  /// let simulation = Simulation()
  /// let network = simulation.networkObserver(OperationClient.defaultNetworkObserver)
  /// let client = OperationClient(
  ///   storeCache: OperationClient.DefaultStoreCache(memoryPressureSource: simulation.memoryPressureSource()),
  ///   storeCreator: simulation.storeCreator(.default(networkObserver: network))
  /// )
  /// let devtools = Devtools(client, allowsActions: true, simulation: simulation)
  /// ```
  public final class Simulation: Sendable {
    /// What is simulated.
    public struct Settings: Hashable, Sendable {
      /// Whether the network is away.
      public var isOffline = false

      /// The time that each attempt takes in addition.
      public var latency = Duration.zero

      /// The share of attempts that fail, between 0 and 1, at once and without beginning the operation.
      public var failures = 0.0

      /// Creates settings that change nothing.
      public init() {}
    }

    private struct State: Sendable {
      var settings = Settings()
      /// The part of a failure that the attempts so far have added up to.
      var failure = 0.0
      /// The paths of the stores whose runs are held.
      var held: Set<OperationPath> = []
    }

    private let state = Locked(State())
    let offline = Broadcast(false)
    let memory = MockMemoryPressureSource()
    private let holding = Broadcast(())

    /// Creates a simulation that changes nothing yet.
    public init() {}

    /// What is simulated. A share of failures below 0 or above 1 counts as the nearer of the two, NaN as 0.
    public var settings: Settings {
      get { self.state.withLock { $0.settings } }
      set {
        var settings = newValue
        settings.failures = newValue.failures >= 0 ? min(newValue.failures, 1) : 0
        settings.latency = max(newValue.latency, .zero)
        let wasOffline = self.state.withLock { state in
          defer { state.settings = settings }
          return state.settings.isOffline
        }
        if settings.isOffline != wasOffline { self.offline.send(settings.isOffline) }
      }
    }

    /// Evicts idle stores as if memory were short, where a cache has the ``memoryPressureSource(_:)``.
    public func sendMemoryPressure() {
      self.memory.send(pressure: .critical)
      self.memory.send(pressure: .normal)
    }

    /// Holds each attempt of a store before it begins, so that the store keeps loading, or lets them go on.
    ///
    /// - Parameters:
    ///   - isHeld: Whether they are held.
    ///   - path: The path of the store.
    public func setHeld(_ isHeld: Bool, at path: OperationPath) {
      self.state.withLock { state, released in
        if isHeld { state.held.insert(path) } else { released.append(state.held.remove(path)) }
      }
      self.holding.send(())
    }

    /// The paths of the stores whose attempts are held.
    public var heldPaths: [OperationPath] { self.state.withLock { Array($0.held) } }

    func isHeld(_ path: OperationPath) -> Bool { self.state.withLock { $0.held.contains(path) } }

    fileprivate func subscribeToHolding(_ onChange: @escaping @Sendable () -> Void) -> OperationSubscription {
      self.holding.subscribe { onChange() }
    }

    /// What the next attempt meets: failures are spread evenly, so that a share of a quarter makes each fourth attempt fail.
    func nextAttempt() -> (latency: Duration, fails: Bool) {
      self.state.withLock { state in
        state.failure += state.settings.failures
        let fails = state.failure >= 1
        if fails { state.failure -= 1 }
        return (state.settings.latency, fails)
      }
    }
  }

  /// Satisfied while the attempts of a store are not held.
  struct HeldRelease: OperationRunSpecification, Sendable, CustomStringConvertible {
    let simulation: Simulation
    let path: OperationPath

    var description: String { "the page of the devtools lets it go on" }

    func isSatisfied(in context: OperationContext) -> Bool { !self.simulation.isHeld(self.path) }

    func subscribe(
      in context: OperationContext,
      onChange: @escaping @Sendable () -> Void
    ) -> OperationSubscription {
      self.simulation.subscribeToHolding(onChange)
    }
  }

  /// The error of an attempt that fails because of a ``Simulation``.
  public struct SimulatedFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// Creates an error.
    public init() {}

    /// The message of the error.
    public var description: String { "The failure is simulated." }
  }

  extension JSONText {
    mutating func value(_ settings: Simulation.Settings, held: [Int]) {
      self.object { json in
        json.key("held")
        json.array { json in
          for id in held.sorted() { json.value(id) }
        }
        json.key("offline")
        json.value(settings.isOffline)
        json.member("latency", settings.latency / .seconds(1))
        json.member("failures", settings.failures)
      }
    }
  }

  extension SimulatedFailure: LocalizedError {
    public var errorDescription: String? { self.description }
  }
#endif
