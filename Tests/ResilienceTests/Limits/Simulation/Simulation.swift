import OperationCore
import OperationLimits
import Synchronization
import TestFixtures

/// A discrete-event simulation of clients, a limit and a server: no time passes and no task waits.
struct Simulation {
  private enum Event {
    /// The server has answered a request, or failed it.
    case answer(Int, failed: Bool)
    case arrival
    case change
  }

  /// What has been measured after the warm-up.
  struct Result {
    /// Answers in a second.
    var throughput = 0.0
    /// The mean time of an answer in seconds, without the wait for the limit.
    var latency = 0.0
  }

  let server: SimulatedServer
  let load: SimulatedLoad
  var length = 10.0
  var warmUp = 2.0
  var seed: UInt64 = 1

  /// Runs the simulation with a limit, through its public methods.
  func run(_ limit: some OperationLimit) -> Result {
    var run = Run(self, limit)
    return run.result()
  }
}

/// Deadlines whose time a simulation sets. Its limits need no timers.
final class SimulatedTime: DeadlineSource {
  private let time = Mutex(Duration.zero)

  var elapsed: Duration { self.time.withLock { $0 } }

  func set(_ seconds: Double) {
    self.time.withLock { $0 = .seconds(seconds) }
  }

  func schedule(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> OperationSubscription {
    .empty
  }
}

extension Simulation {
  private struct Run<Limit: OperationLimit> {
    struct Request {
      let start: Double
      let permit: Limit.Permit
    }

    let simulation: Simulation
    let limit: Limit
    let time = SimulatedTime()
    var context = OperationContext()
    var generator: SeededGenerator
    var events = EventHeap<Event>()
    var now = 0.0
    /// The requests that wait for the limit.
    var waiting = 0
    var clients = 0
    /// The requests that wait in the queue of the server, first come, first served.
    var queued: [Int] = []
    var nextQueued = 0
    var busy = 0
    var requests: [Int: Request] = [:]
    var lastRequest = 0
    var answers = 0
    var latencies = 0.0

    init(_ simulation: Simulation, _ limit: Limit) {
      self.simulation = simulation
      self.limit = limit
      self.generator = SeededGenerator(seed: simulation.seed)
      self.context.operationDeadlines = self.time
    }

    mutating func result() -> Result {
      switch self.simulation.load {
      case .closed: self.events.push(.change, at: 0)
      case .open: self.events.push(.arrival, at: 0)
      }
      while let (time, event) = self.events.pop(), time < self.simulation.length {
        self.now = time
        self.time.set(time)
        self.handle(event)
        while self.waiting > 0, let permit = self.limit.takePermit(in: self.context) {
          self.waiting -= 1
          self.send(permit)
        }
      }
      let measured = self.simulation.length - self.simulation.warmUp
      return Result(throughput: Double(self.answers) / measured, latency: self.latencies / Double(max(self.answers, 1)))
    }

    private mutating func handle(_ event: Event) {
      switch event {
      case .answer(let number, let failed): self.end(number, failed)
      case .arrival:
        guard case .open(let rate) = self.simulation.load else { return }
        if self.waiting < 200 { self.waiting += 1 }
        self.events.push(.arrival, at: self.now + self.generator.interval(rate: rate(self.now)))
      case .change:
        guard case .closed(let count) = self.simulation.load else { return }
        let wanted = count(self.now)
        // A client that has a request under way leaves when it has its answer.
        let leaving = min(max(self.clients - wanted, 0), self.waiting)
        self.waiting += max(wanted - self.clients, 0) - leaving
        self.clients = max(wanted, self.clients - leaving)
        self.events.push(.change, at: self.now + 0.05)
      }
    }

    private mutating func send(_ permit: Limit.Permit) {
      self.lastRequest += 1
      self.requests[self.lastRequest] = Request(start: self.now, permit: permit)
      if self.requests.count > self.simulation.server.shedsBeyond {
        self.events.push(.answer(self.lastRequest, failed: true), at: self.now + 0.001)
      } else if let slots = self.simulation.server.slots, self.busy >= slots {
        self.queued.append(self.lastRequest)
      } else {
        self.serve(self.lastRequest)
      }
    }

    private mutating func serve(_ number: Int) {
      self.busy += 1
      let server = self.simulation.server
      let duration = server.duration(at: self.now, concurrency: self.busy, using: &self.generator)
      self.events.push(.answer(number, failed: false), at: self.now + duration)
    }

    private mutating func end(_ number: Int, _ failed: Bool) {
      guard let request = self.requests.removeValue(forKey: number) else { return }
      if !failed {
        self.busy -= 1
        if self.now > self.simulation.warmUp {
          self.answers += 1
          self.latencies += self.now - request.start
        }
        if self.nextQueued < self.queued.count {
          self.nextQueued += 1
          self.serve(self.queued[self.nextQueued - 1])
        }
      }
      self.limit.returnPermit(request.permit, after: failed ? .failed(Refused()) : .succeeded, in: self.context)
      guard case .closed(let count) = self.simulation.load else { return }
      if self.clients > count(self.now) { self.clients -= 1 } else { self.waiting += 1 }
    }
  }
}

/// Events in the order of their times, then of their arrival.
struct EventHeap<Event> {
  /// What is compared has no parameters and is no tuple: builds for debugging look such types up at each use.
  private struct Moment {
    let time: Double
    let number: Int

    func isEarlier(than other: Moment) -> Bool {
      self.time == other.time ? self.number < other.number : self.time < other.time
    }
  }

  private var moments: [Moment] = []
  private var events: [Int: Event] = [:]
  private var lastNumber = 0

  mutating func push(_ event: Event, at time: Double) {
    self.lastNumber += 1
    self.events[self.lastNumber] = event
    let new = Moment(time: time, number: self.lastNumber)
    self.moments.append(new)
    var child = self.moments.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      let other = self.moments[parent]
      guard new.isEarlier(than: other) else { break }
      self.moments[child] = other
      child = parent
    }
    self.moments[child] = new
  }

  mutating func pop() -> (Double, Event)? {
    guard let first = self.moments.first, let event = self.events.removeValue(forKey: first.number) else { return nil }
    let last = self.moments.removeLast()
    let count = self.moments.count
    var parent = 0
    while 2 * parent + 1 < count {
      var child = 2 * parent + 1
      var earliest = self.moments[child]
      if child + 1 < count {
        let right = self.moments[child + 1]
        if right.isEarlier(than: earliest) { (child, earliest) = (child + 1, right) }
      }
      guard earliest.isEarlier(than: last) else { break }
      self.moments[parent] = earliest
      parent = child
    }
    if count > 0 { self.moments[parent] = last }
    return (first.time, event)
  }
}
