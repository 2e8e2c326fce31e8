public import OperationCore

/// Where the value of a run comes from, in a fleet.
public struct OperationFleetOrigin: Hashable, Sendable, CustomStringConvertible {
  /// How a run has got its value.
  @nonexhaustive(warn)
  public enum Source: Hashable, Sendable, CustomStringConvertible {
    /// This node has run the operation, and has shared the value.
    case run
    /// Another run had shared the value before.
    case shared
    /// Another node was running the operation, and the run has waited for its value.
    case awaited
    /// This node has run the operation for itself, because the backend did not answer.
    case alone

    /// The source in lowercase words.
    public var description: String {
      switch self {
      case .run: "run"
      case .shared: "shared"
      case .awaited: "awaited"
      case .alone: "alone"
      }
    }
  }

  /// How the run has got its value.
  public let source: Source

  /// The name of the node that ran the operation.
  public let node: String

  /// How old the value was by the clock of the backend; zero for the node's own run.
  public let age: Duration

  /// Creates a description.
  public init(source: Source, node: String, age: Duration) {
    self.source = source
    self.node = node
    self.age = age
  }

  /// The source, the node and the age.
  public var description: String {
    switch self.source {
    case .run: "run on \(self.node)"
    case .alone: "run on \(self.node) alone"
    case .shared, .awaited: "run on \(self.node) \(self.age.roundedText) ago"
    }
  }
}

extension OperationContext {
  /// Where the value of a run of an operation with `.sharedInFleet(as:)` comes from; nil outside of a fleet.
  ///
  /// It is there in the context of the event with the run's outcome.
  public var fleetOrigin: OperationFleetOrigin? { self[FleetOriginKey.self] }

  /// A context with an origin alone.
  init(fleetOrigin: OperationFleetOrigin) {
    self.init()
    self[FleetOriginKey.self] = fleetOrigin
  }

  func addFleetOriginToOutcome(_ origin: OperationFleetOrigin) {
    self.addToOutcome(origin, for: FleetOriginKey.self)
  }

  private enum FleetOriginKey: Key {
    static let defaultValue: OperationFleetOrigin? = nil
  }
}

extension OperationNotice.Name {
  /// A run has got its value from the fleet, or has run for it.
  ///
  /// The attributes are `fleet.source`, `fleet.node` and `fleet.age`.
  public static let fleetValue = Self("fleet.value")
}
