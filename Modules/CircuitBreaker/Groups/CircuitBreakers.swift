public import OperationCore
internal import Synchronization

/// A circuit breaker for each key, such as each host of a service, of which at most a share is open at once.
///
/// ```swift
/// let breakers = CircuitBreakers(name: "posts") { host in CircuitBreaker(name: host, minimumRuns: 10) }
/// let query = PostQuery(id: 1).circuitBreaker(breakers) { operation, _ in operation.host }
/// ```
///
/// A breaker is made with the first run of its key. Where one endpoint of many fails, only its breaker opens, and the others
/// are used: that is *outlier detection*. Where too many fail, the trouble is not with an endpoint, and a client that has no
/// endpoint left is no better off. So no further breaker opens once the share `maximumOpenRatio` of them is open, half-open or
/// isolated; one may always be. A breaker that may not open goes on counting, and opens with the first result for which
/// there is a place.
///
/// The number of breakers is bounded. A closed breaker that has not been used for `idleAfter` is forgotten when a new key
/// needs its place. If there is none, one of the sixteen that were used least recently is forgotten, a closed one if there
/// is one. A forgotten breaker goes on for the runs that it has admitted; its key gets a new one.
///
/// The bound of open breakers follows `max_ejection_percent` in the
/// [outlier detection](https://www.envoyproxy.io/docs/envoy/latest/intro/arch_overview/upstream/outlier) of Envoy.
public final class CircuitBreakers: Sendable {
  /// What may change while the group is in use.
  private struct Bounds: Sendable {
    let maximum: Int
    let maximumOpenRatio: Double
    let idleAfter: Duration
  }

  private struct State: Sendable {
    var breakers = RecentEntries<CircuitBreaker>()
    var maximum: Int
    var idleAfter: Duration
  }

  /// The name of the group in texts and snapshots; nil without a name.
  public let name: String?

  private let state: Mutex<State>
  private let gate: CircuitGate
  private let make: @Sendable (String) -> CircuitBreaker

  /// Creates a group without breakers.
  ///
  /// An impossible number is reported with a warning, and the default is used.
  ///
  /// - Parameters:
  ///   - name: The name of the group in texts and snapshots, without user data.
  ///   - maximum: The highest number of breakers, at least 1.
  ///   - maximumOpenRatio: The share of breakers that may be open at once, from 0 to 1. One may always be.
  ///   - idleAfter: The time without a run after which a closed breaker gives its place up, at least zero.
  ///   - make: Returns a new breaker for a key. Called while no lock is held, with the first run of the key; two first runs
  ///     at once may call it twice, and then share one of the breakers. Each call has to return another breaker.
  public init(
    name: String? = nil,
    maximum: Int = 1000,
    maximumOpenRatio: Double = 0.5,
    idleAfter: OperationDuration = .seconds(600),
    _ make: @escaping @Sendable (String) -> CircuitBreaker = { CircuitBreaker(name: $0) }
  ) {
    let title = name ?? "CircuitBreakers"
    let refusesMaximum = OperationWarning.refuses(Self.problem(maximum: maximum), by: title)
    let refusesShare = OperationWarning.refuses(Self.problem(maximumOpenRatio: maximumOpenRatio), by: title)
    let refusesTime = OperationWarning.refuses(CircuitSettings.problem(idleAfter, as: "idleAfter"), by: title)
    self.name = name
    self.make = make
    self.gate = CircuitGate(share: refusesShare ? 0.5 : maximumOpenRatio)
    self.state = Mutex(
      State(
        maximum: refusesMaximum ? 1000 : maximum,
        idleAfter: refusesTime ? .seconds(600) : idleAfter.clampedForClock
      )
    )
  }

  private static func problem(maximum: Int?) -> String? {
    guard let maximum, maximum < 1 else { return nil }
    return "A group of \(maximum) breakers has none for a run. Pass at least 1."
  }

  private static func problem(maximumOpenRatio: Double?) -> String? {
    guard let maximumOpenRatio, !(maximumOpenRatio >= 0 && maximumOpenRatio <= 1) else { return nil }
    return "A share of \(maximumOpenRatio) breakers cannot be open. Pass a share from 0 to 1."
  }
}

// MARK: - Breakers

extension CircuitBreakers {
  /// The number of breakers.
  public var count: Int { self.state.withLock { $0.breakers.count } }

  /// The number of breakers that are open, half-open or isolated.
  public var openCount: Int { self.gate.openCount }

  /// Returns the breaker of a key, and makes it if there is none.
  ///
  /// - Parameters:
  ///   - key: The key, such as a host.
  ///   - context: A context whose deadlines give the time of the use.
  /// - Returns: The breaker.
  /// - Complexity: O(1).
  public func breaker(for key: String, in context: OperationContext = OperationContext()) -> CircuitBreaker {
    let now = context.elapsed
    if let known = self.known(key, at: now) { return known }
    let made = self.make(key)
    let (breaker, forgotten) = self.state.withLock { state -> (CircuitBreaker, [CircuitBreaker]) in
      // Another first run may have been faster.
      if let known = state.breakers.value(for: key) { return (known, []) }
      let forgotten = state.breakers.makePlace(in: state.maximum, usedUntil: now - state.idleAfter) {
        $0.generationIfClosed != 0
      }
      state.breakers.add(made, for: key, at: now)
      self.gate.addMember()
      made.withMachine { $0.join(self.gate) }
      return (made, forgotten)
    }
    // Released after unlocking: a breaker owns closures of the user.
    for breaker in forgotten { self.leave(breaker) }
    return breaker
  }

  /// Forgets the breaker of a key, such as one of an endpoint that is gone. Does nothing without one.
  ///
  /// - Parameter key: The key.
  public func forget(_ key: String) {
    if let forgotten = self.state.withLock({ $0.breakers.remove(key) }) { self.leave(forgotten) }
  }

  private func known(_ key: String, at now: Duration) -> CircuitBreaker? {
    self.state.withLock { $0.breakers.use(key, at: now) }
  }

  private func leave(_ breaker: CircuitBreaker) {
    breaker.withMachine { $0.leaveGate() }
    self.gate.removeMember()
  }
}

// MARK: - While it runs

extension CircuitBreakers {
  /// Changes the bounds of the group. The breakers keep their settings and states.
  ///
  /// With a smaller `maximum`, breakers give their places up with the next new key. With a smaller `maximumOpenRatio`, breakers
  /// that are open stay so, and no other one opens until fewer are. Impossible settings are reported with a warning. Then
  /// nothing changes.
  ///
  /// - Parameters:
  ///   - maximum: The highest number of breakers, at least 1; nil to keep it.
  ///   - maximumOpenRatio: The share of breakers that may be open at once, from 0 to 1; nil to keep it.
  ///   - idleAfter: The time without a run after which a closed breaker gives its place up; nil to keep it.
  ///   - context: Its observers receive the notice ``OperationCore/OperationNotice/Name/circuitSettingsChanged``.
  /// - Returns: Whether the settings are possible.
  @discardableResult
  public func update(
    maximum: Int? = nil,
    maximumOpenRatio: Double? = nil,
    idleAfter: OperationDuration? = nil,
    in context: OperationContext = OperationContext()
  ) -> Bool {
    let problem =
      Self.problem(maximum: maximum) ?? Self.problem(maximumOpenRatio: maximumOpenRatio)
      ?? CircuitSettings.problem(idleAfter, as: "idleAfter")
    if OperationWarning.refuses(problem, by: self.name ?? "CircuitBreakers") { return false }
    let (earlier, current) = self.state.withLock { state in
      let earlier = Bounds(maximum: state.maximum, maximumOpenRatio: self.gate.share, idleAfter: state.idleAfter)
      if let maximum { state.maximum = maximum }
      if let maximumOpenRatio { self.gate.setShare(maximumOpenRatio) }
      if let idleAfter { state.idleAfter = idleAfter.clampedForClock }
      return (earlier, Bounds(maximum: state.maximum, maximumOpenRatio: self.gate.share, idleAfter: state.idleAfter))
    }
    var change = SettingsChange(of: self.name.map { ["circuit.name": .string($0)] } ?? [:])
    change.add("circuits.maximum", from: .integer(earlier.maximum), to: .integer(current.maximum))
    change.add("circuits.maximum_open", from: .number(earlier.maximumOpenRatio), to: .number(current.maximumOpenRatio))
    change.add("circuits.idle_after", from: .duration(earlier.idleAfter), to: .duration(current.idleAfter))
    context.send(.circuitSettingsChanged, of: change)
    return true
  }

  /// The breakers at this moment, by key.
  ///
  /// - Complexity: O(*n* log *n*) in the number of breakers.
  public func snapshot() -> CircuitBreakersSnapshot {
    let breakers = self.state.withLock { $0.breakers.all }.sorted { $0.key < $1.key }
    return CircuitBreakersSnapshot(
      name: self.name ?? "CircuitBreakers",
      open: self.openCount,
      maximumOpenRatio: self.gate.share,
      breakers: breakers.map { CircuitBreakersSnapshot.Entry(key: $0.key, breaker: $0.value.snapshot()) }
    )
  }
}

extension CircuitBreakers: CustomStringConvertible {
  /// The numbers of the group.
  public var description: String { "Circuit breakers \(self.snapshot())" }
}

/// The breakers of a ``CircuitBreakers`` at one moment, for logs, status pages and gauges.
public struct CircuitBreakersSnapshot: OperationResilienceSnapshot, Hashable {
  /// The breaker of a key.
  public struct Entry: Sendable, Hashable, Encodable {
    /// The key.
    public let key: String
    /// The breaker.
    public let breaker: CircuitBreaker.Snapshot
  }

  /// The name of the group; `CircuitBreakers` for one without a name.
  public let name: String

  /// The number of breakers that are open, half-open or isolated.
  public let open: Int

  /// The share of breakers that may be open at once.
  public let maximumOpenRatio: Double

  /// The breakers, in the order of their keys.
  public let breakers: [Entry]

  /// The numbers of the whole group. Keys have no gauges, because their number has no bound that a backend could keep.
  public var gauges: [String: Double] {
    ["circuits.open": Double(self.open), "circuits.count": Double(self.breakers.count)]
  }

  /// The snapshot on one line, without the breakers that are closed.
  public var description: String {
    let others = self.breakers.filter { $0.breaker.state != .closed }.map { "\($0.key) \($0.breaker.state.name)" }
    let list = others.isEmpty ? "" : ": \(others.joined(separator: ", "))"
    return "\(self.name): \(self.open) of \(self.breakers.count) open\(list)"
  }
}
