internal import OperationCore
internal import Synchronization

/// The groups of a client, or those of all stores without one.
package final class PaceGroups: Sendable {
  private struct Content {
    var groups: [OperationPath: PaceGroup] = [:]
    /// The number of groups at which those without runs are removed.
    var bound = 64
  }

  package static let withoutClient = PaceGroups()

  private let content = Mutex(Content())

  static func of(_ client: OperationClient?) -> PaceGroups { client?.attachment { PaceGroups() } ?? self.withoutClient }

  /// The number of groups that are kept.
  package var count: Int { self.content.withLock { $0.groups.count } }

  /// The group of a prefix.
  ///
  /// - Complexity: O(1); O(*n*) in the number of groups when it has doubled, to remove those that are unused.
  func group(of prefix: OperationPath, deadlines: any DeadlineSource) -> PaceGroup {
    let (group, all) = self.content.withLock { content -> (PaceGroup, [PaceGroup]) in
      if let group = content.groups[prefix] { return (group, []) }
      let group = PaceGroup(on: deadlines)
      content.groups[prefix] = group
      return (group, content.groups.count > content.bound ? Array(content.groups.values) : [])
    }
    if !all.isEmpty { self.remove(all.filter { $0 !== group && $0.isQuiet }) }
    return group
  }

  private func remove(_ unused: [PaceGroup]) {
    let unused = Set(unused.map { ObjectIdentifier($0) })
    let former = self.content.withLock { content in
      let former = content.groups
      content.groups = former.filter { !unused.contains(ObjectIdentifier($0.value)) }
      content.bound = max(64, 2 * content.groups.count)
      return former
    }
    _ = consume former  // Paths are released after unlocking.
  }
}

/// The calls whose paths have a prefix: the newest of them counts.
final class PaceGroup: Sendable {
  private let machine = Mutex(PaceMachine())
  private let deadlines: any DeadlineSource

  fileprivate init(on deadlines: any DeadlineSource) {
    self.deadlines = deadlines
  }

  /// Whether the next call would find nothing that it has to wait for.
  fileprivate var isQuiet: Bool {
    let now = self.deadlines.elapsed
    return self.machine.withLock { $0.isQuiet(at: now) }
  }

  /// Takes a call in. The call before it gives way.
  ///
  /// - Returns: The time for which the call has to wait; nil if it begins.
  /// - Throws: `CancellationError` if the call belongs to a run that has given way.
  func enter(_ call: PacedCall, by rule: PaceRule) throws -> Duration? {
    let now = self.deadlines.elapsed
    let entry = self.machine.withLock { $0.enter(call, by: rule, at: now) }
    switch entry {
    case .again: return nil
    case .late: throw CancellationError()
    case .new(let replaced, let wait):
      if let replaced { replaced.call.giveWay(to: call, isRunning: replaced.isRunning) }
      return wait > .zero ? wait : nil
    }
  }

  /// Lets a call begin that has waited.
  func begin(_ call: PacedCall, by rule: PaceRule) throws {
    let now = self.deadlines.elapsed
    guard self.machine.withLock({ $0.begin(call, by: rule, at: now) }) else { throw CancellationError() }
  }

  func end(_ call: PacedCall) {
    let replaced = self.machine.withLock { $0.end(call) }
    _ = consume replaced  // Released after unlocking.
  }
}
