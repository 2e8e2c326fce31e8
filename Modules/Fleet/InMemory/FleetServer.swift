internal import OperationCore

/// The table of an ``InMemoryFleet`` and the network to it.
final class FleetServer: Sendable {
  private struct State: Sendable {
    var table: FleetTable
    var network: InMemoryFleet.Network
    var generator: FleetGenerator
    var isRunning = true
    var statistics = InMemoryFleetStatistics()
    /// The connections that receive messages, in the order in which they began to.
    var listeners: [WeakConnection] = []
    /// The deadlines of messages that travel.
    var travelling: [UInt64: OperationSubscription] = [:]
    var lastNumber: UInt64 = 0
  }

  private struct WeakConnection: Sendable {
    weak let connection: InMemoryFleetConnection?
  }

  private let state: Locked<State>
  private let deadlines: any DeadlineSource

  init(table: FleetTable, network: InMemoryFleet.Network, seed: UInt64, deadlines: any DeadlineSource) {
    self.state = Locked(State(table: table, network: network, generator: FleetGenerator(seed: seed)))
    self.deadlines = deadlines
  }

  var network: InMemoryFleet.Network {
    get { self.state.withLock { $0.network } }
    set { self.state.withLock { $0.network = newValue } }
  }

  var isRunning: Bool {
    get { self.state.withLock { $0.isRunning } }
    set { self.state.withLock { $0.isRunning = newValue } }
  }

  var statistics: InMemoryFleetStatistics { self.state.withLock { $0.statistics } }

  func loseEverything() {
    self.state.withLock { $0.table.lose() }
    self.announce(.missed)
  }

  func add(_ connection: InMemoryFleetConnection) {
    self.state.withLock { state in
      state.listeners.removeAll { $0.connection == nil || $0.connection === connection }
      state.listeners.append(WeakConnection(connection: connection))
    }
  }
}

// MARK: - Calls

extension FleetServer {
  /// What a call does to the table.
  typealias Step<Answer> = @Sendable (inout FleetTable, Duration) -> (Answer, FleetMessage?)

  /// Makes one step at once. Returns nil while the backend does not answer.
  func perform<Answer>(_ step: Step<Answer>) -> Answer? {
    let now = self.deadlines.elapsed
    let result = self.state.withLock { state -> (Answer, FleetMessage?)? in
      guard state.isRunning else { return nil }
      state.statistics.calls += 1
      let result = step(&state.table, now)
      state.statistics.note(result.0)
      return result
    }
    guard let (answer, message) = result else { return nil }
    if let message { self.announce(message) }
    return answer
  }

  private func announce(_ message: FleetMessage) {
    let connections = self.state.withLock { state in
      state.listeners.removeAll { $0.connection == nil }
      let connections = state.listeners.compactMap(\.connection)
      state.statistics.messages += connections.count
      return connections
    }
    for connection in connections {
      self.send { if !connection.isCut { connection.receive(message) } }
    }
  }
}

// MARK: - Travelling

extension FleetServer {
  /// Performs an action when a message has travelled: once, twice, or never.
  ///
  /// - Parameters:
  ///   - arrive: Called with no lock held; at once in a network that takes no time.
  ///   - lost: Called at once if the message is lost.
  func send(_ arrive: @escaping @Sendable () -> Void, lost: () -> Void = {}) {
    let delays = self.state.withLock { state in state.generator.delays(in: state.network) }
    if delays.isEmpty { lost() }
    for delay in delays { self.after(delay, arrive) }
  }

  /// Performs an action after a duration. No subscription has to be kept.
  func after(_ duration: Duration, _ action: @escaping @Sendable () -> Void) {
    guard duration > .zero else { return action() }
    let number = self.state.withLock { state in
      state.lastNumber += 1
      // Replaced by the deadline, or removed by it if it comes first.
      state.travelling[state.lastNumber] = .empty
      return state.lastNumber
    }
    let deadline = self.deadlines.schedule(after: duration) { [weak self] in
      _ = self?.state.withLock { $0.travelling.removeValue(forKey: number) }
      action()
    }
    let former = self.state.withLock { state in
      state.travelling[number] == nil ? nil : state.travelling.updateValue(deadline, forKey: number)
    }
    _ = consume former  // Released after unlocking.
  }
}

/// The random numbers of a simulated network: SplitMix64 (G. Steele et al., Fast Splittable Pseudorandom Number
/// Generators).
struct FleetGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  init(seed: UInt64) {
    self.state = seed
  }

  mutating func next() -> UInt64 {
    self.state &+= 0x9E37_79B9_7F4A_7C15
    var bits = self.state
    bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    return bits ^ (bits >> 31)
  }

  /// How long each copy of a message travels; empty for a lost message.
  mutating func delays(in network: InMemoryFleet.Network) -> [Duration] {
    if network.loss > 0, Double.random(in: 0..<1, using: &self) < network.loss { return [] }
    let count = network.duplication > 0 && Double.random(in: 0..<1, using: &self) < network.duplication ? 2 : 1
    return (0..<count).map { _ in self.delay(in: network.latency) }
  }

  private mutating func delay(in range: ClosedRange<Duration>) -> Duration {
    if range.lowerBound == range.upperBound { return range.lowerBound }
    return range.lowerBound + (range.upperBound - range.lowerBound) * Double.random(in: 0..<1, using: &self)
  }
}

extension InMemoryFleetStatistics {
  fileprivate mutating func note(_ answer: Any) {
    switch answer {
    case FleetWriteAnswer.stored: self.storedValues += 1
    case is FleetWriteAnswer: self.refusedValues += 1
    case is FleetEpoch: self.invalidations += 1
    default: break
    }
  }
}
