internal import Synchronization

/// Something that is waited for, and may wait for others itself: a run, or a queue of runs.
@usableFromInline
package protocol WaitNode: AnyObject, Sendable {
  /// What it waits for.
  var waits: [WaitEdge] { get }
  /// Whether it goes on only when the current task does.
  var isEndedByCurrentTask: Bool { get }
  /// The name of its operation, if it has one.
  var waitName: String? { get }
  /// Whether it is a queue of runs, as opposed to a run.
  var isQueue: Bool { get }
  /// Whether it was cancelled, and may not have ended.
  var isCancelled: Bool { get }
  /// Waits until it has ended, or the current task is cancelled.
  nonisolated(nonsending) func ended() async
}

extension WaitNode {
  @usableFromInline package var isQueue: Bool { false }
}

/// One wait of a ``WaitNode``.
@usableFromInline
package struct WaitEdge: Sendable {
  let node: any WaitNode
  /// Whether the work of the waiting run has asked for the node, as opposed to a place behind it in a queue.
  let isCall: Bool

  package init(_ node: any WaitNode, isCall: Bool) {
    self.node = node
    self.isCall = isCall
  }

  /// The wait for what the work of a run has asked for, or for a place in a queue.
  package init(awaited node: any WaitNode) {
    self.init(node, isCall: !node.isQueue)
  }
}

/// Who waits for whom, so that no run joins one that waits for it.
@usableFromInline
package enum WaitGraph {
  /// What a caller finds who is about to join a run.
  @usableFromInline
  package enum Finding {
    /// The run can be joined.
    case open
    /// The run is in a queue behind the caller, who has to run on its own.
    case queuedBehindCaller
    /// The work of the run has asked, by way of these operations, for what the caller is about to join.
    case recursion([String])
  }

  // Until a run waits for another one, no caller has to look.
  private static let hasEdges = Atomic(false)

  /// Says that there is a wait.
  @usableFromInline
  package static func noteEdge() {
    if !self.hasEdges.load(ordering: .relaxed) { self.hasEdges.store(true, ordering: .sequentiallyConsistent) }
  }

  /// Whether there may be anything to find.
  @usableFromInline package static var isNeeded: Bool {
    self.hasEdges.load(ordering: .sequentiallyConsistent) || EnclosingRun.exists
  }

  /// Looks whether `node` waits, by whatever way, for the current task, which is about to wait for it.
  ///
  /// That wait is noted first: of two who are about to close a circle at once, at least one sees the other's.
  @usableFromInline
  package static func finding(joining node: any WaitNode) -> Finding {
    if EnclosingRun.exists { EnclosingRun.note(awaited: node) }
    guard self.hasEdges.load(ordering: .sequentiallyConsistent) else { return .open }
    if let path = self.path(from: node, onlyCalls: true) {
      // A run and the shared run in it have one name.
      var names: [String] = []
      for case let name? in path.map(\.waitName) where names.last != name { names.append(name) }
      return .recursion(names + names.prefix(1))
    }
    return self.path(from: node, onlyCalls: false) == nil ? .open : .queuedBehindCaller
  }

  /// The shortest way from a node to one that the current task ends.
  private static func path(from start: any WaitNode, onlyCalls: Bool) -> [any WaitNode]? {
    var steps: [(node: any WaitNode, previous: Int?)] = [(start, nil)]
    var known: Set<ObjectIdentifier> = [ObjectIdentifier(start)]
    var next = 0
    while next < steps.count {
      let node = steps[next].node
      if node.isEndedByCurrentTask {
        var path: [any WaitNode] = []
        var step: Int? = next
        while let index = step {
          path.append(steps[index].node)
          step = steps[index].previous
        }
        return path.reversed()
      }
      for edge in node.waits where edge.isCall || !onlyCalls {
        if known.insert(ObjectIdentifier(edge.node)).inserted { steps.append((edge.node, next)) }
      }
      next += 1
    }
    return nil
  }
}

/// Runs that wait for each other in a circle: the work of each has asked for the next.
///
/// A call that would join a run whose own work is waiting for that call throws this, where its failure has room for it.
public struct OperationCircleError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The names of the operations, beginning and ending with the one that was asked for.
  public let operationNames: [String]

  @usableFromInline
  package init(operationNames: [String]) {
    self.operationNames = operationNames
  }

  public var description: String {
    """
    \(self.operationNames.first ?? "An operation") waits for itself: \(self.operationNames.joined(separator: " → ")). \
    Let none of these operations ask for one that asks for it.
    """
  }
}

extension OperationCircleError {
  /// Whether a type of failure has room for the error.
  @usableFromInline
  package static func isFailure<Failure: Error>(_ failure: Failure.Type) -> Bool {
    OperationCircleError(operationNames: []) is Failure
  }

  /// Reports the circle, and returns it as the outcome of a run, whose type of failure has room for it.
  // Not inlined: async functions would keep room for the failure.
  @usableFromInline
  package static func outcome<Value, Failure: Error>(_ names: [String]) -> Result<Value, Failure> {
    let error = OperationCircleError(operationNames: names)
    error.report()
    guard let failure = error as? Failure else { preconditionFailure("Only a type with room for it is asked for it.") }
    return .failure(failure)
  }

  @usableFromInline
  package func report() {
    OperationWarning(code: .taskCircle, message: self.description).report()
  }
}

// MARK: - Runs that wait

/// A run whose work may wait for other runs.
@usableFromInline
package protocol WaitingRun: AnyObject, Sendable {
  /// Whether the current task does the work of the run.
  var isInCurrentTask: Bool { get }
  /// Notes what the work has asked for, until it asks for something else.
  func note(called node: any WaitNode)
}

/// The shared run whose work the current task is part of.
@usableFromInline
package enum EnclosingRun {
  // Declared by hand, as inlined code binds it.
  @usableFromInline static let local = TaskLocal<(any WaitingRun)?>(wrappedValue: nil)

  /// Does the work of `run`.
  @inlinable
  package nonisolated(nonsending) static func perform<R>(
    _ run: any WaitingRun,
    _ work: nonisolated(nonsending) () async -> R
  ) async -> R {
    await self.local.withValue(run) { await work() }
  }

  /// Makes a task that does the work of `run`.
  @inlinable
  static func makeTask(of run: any WaitingRun, _ make: () -> Void) {
    self.local.withValue(run) { make() }
  }

  /// Notes that the work of the enclosing run waits for `node`, if this task does that work.
  ///
  /// A task that the work has made, and perhaps left, says nothing about what the work waits for.
  @usableFromInline
  package static func note(awaited node: any WaitNode) {
    guard let run = self.local.get(), run.isInCurrentTask else { return }
    run.note(called: node)
    WaitGraph.noteEdge()
  }

  /// Whether there is a run to note waits for.
  @usableFromInline package static var exists: Bool { self.local.get() != nil }
}

extension OperationContext {
  /// Notes that the run with this context waits in a queue for `node`, until it waits for something else.
  package func note(awaited node: any WaitNode) {
    self.taskLoan?.note(awaited: node)
    EnclosingRun.note(awaited: node)
    WaitGraph.noteEdge()
  }
}

/// What a state keeps with a run, and may make the run wait for others.
@usableFromInline
package protocol RunAttachment: AnyObject, Sendable {
  /// What the run waits for before its work begins.
  var awaitedRuns: [WaitEdge] { get }
}
