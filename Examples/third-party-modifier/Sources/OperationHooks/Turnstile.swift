public import OperationCore
internal import Synchronization

/// A queue that lets one run pass at a time, in the order in which their callers have called.
///
/// A run that would wait for itself, because the run that holds the turnstile waits for it, gets an `OperationCycleError`.
public final class Turnstile: WaitNode {
  typealias Ticket = Int
  private typealias Turn = CheckedContinuation<Bool, Never>

  private struct Place {
    enum Phase {
      /// Its run has not come yet.
      case reserved
      case waiting(RunNode?, Turn)
      case admitted(RunNode?)
    }

    let ticket: Ticket
    var phase = Phase.reserved
  }

  private struct Line {
    /// The places in the order of the calls. The first has the turn.
    var places: [Place] = []
    var lastTicket = 0

    /// Removes a place. Returns who learns of it: its own run that it has no turn, and the next run that it has.
    mutating func remove(_ ticket: Ticket) -> [(turn: Turn, isTurn: Bool)] {
      guard let index = self.places.firstIndex(where: { $0.ticket == ticket }) else { return [] }
      var resumed: [(turn: Turn, isTurn: Bool)] = []
      if case .waiting(_, let turn) = self.places.remove(at: index).phase { resumed.append((turn, false)) }
      if case .waiting(let run, let turn)? = self.places.first?.phase {
        self.places[0].phase = .admitted(run)
        resumed.append((turn, true))
      }
      return resumed
    }
  }

  private let name: String
  private let line = Mutex(Line())

  /// Creates a turnstile without runs.
  ///
  /// - Parameter name: Its name in explanations and in reports of cycles.
  public init(_ name: String) {
    self.name = name
  }

  /// The number of runs that have the turn, wait for it, or have a place.
  public var count: Int { self.line.withLock { $0.places.count } }

  public var waitName: String? { self.name }

  public var waits: [WaitEdge] {
    let holder = self.line.withLock { line -> RunNode? in
      if case .admitted(let run)? = line.places.first?.phase { run } else { nil }
    }
    return holder.map { [WaitEdge(to: $0)] } ?? []
  }

  /// Takes the last place in the line.
  func reserve() -> Ticket {
    self.line.withLock { line in
      line.lastTicket += 1
      line.places.append(Place(ticket: line.lastTicket))
      return line.lastTicket
    }
  }

  /// Waits until the ticket has the turn.
  ///
  /// - Throws: An `OperationCycleError`, or a `CancellationError`.
  nonisolated(nonsending) func pass(with ticket: Ticket, in context: OperationContext) async throws {
    let run = context.runNode
    if self.admit(ticket, run) { return }
    let hasTurn = try await context.awaiting(self, for: { self.name }) {
      await withTaskCancellationHandler {
        await withCheckedContinuation { turn in self.suspend(ticket, run, turn) }
      } onCancel: {
        self.giveUp(ticket)
      }
    }.get()
    if !hasTurn { throw CancellationError() }
  }

  /// Gives up a place, or the turn.
  func remove(_ ticket: Ticket) {
    for (turn, isTurn) in self.line.withLock({ $0.remove(ticket) }) { turn.resume(returning: isTurn) }
  }

  /// Gives up the place of a run that is cancelled, unless it has the turn.
  ///
  /// A run that has got the turn goes on with it, also if it is cancelled before it goes on: it removes its place itself.
  private func giveUp(_ ticket: Ticket) {
    let resumed = self.line.withLock { line -> [(turn: Turn, isTurn: Bool)] in
      if case .admitted? = line.places.first(where: { $0.ticket == ticket })?.phase { return [] }
      return line.remove(ticket)
    }
    for (turn, isTurn) in resumed { turn.resume(returning: isTurn) }
  }

  /// Takes the turn if it is free. Most runs then have nothing to wait for.
  private func admit(_ ticket: Ticket, _ run: RunNode?) -> Bool {
    self.line.withLock { line in
      guard line.places.first?.ticket == ticket else { return false }
      line.places[0].phase = .admitted(run)
      return true
    }
  }

  private func suspend(_ ticket: Ticket, _ run: RunNode?, _ turn: Turn) {
    let answer = self.line.withLock { line -> Bool? in
      guard let index = line.places.firstIndex(where: { $0.ticket == ticket }) else { return false }
      line.places[index].phase = index == 0 ? .admitted(run) : .waiting(run, turn)
      return index == 0 ? true : nil
    }
    if let answer { turn.resume(returning: answer) }
  }
}
