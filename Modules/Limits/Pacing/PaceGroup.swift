internal import OperationCore
internal import Synchronization

/// The calls whose paths have a prefix, in a client: the newest of them counts.
package final class PaceGroup: Sendable {
  private struct Key: Hashable {
    let client: ObjectIdentifier?
    let prefix: OperationPath
  }

  private struct Groups {
    var all: [Key: PaceGroup] = [:]
    /// The number of groups at which those that nobody uses are removed.
    var bound = 64
  }

  private static let groups = Mutex(Groups())

  private let machine = Mutex(PaceMachine())
  private let deadlines: any DeadlineSource

  private init(on deadlines: any DeadlineSource) {
    self.deadlines = deadlines
  }

  /// The number of groups that are kept.
  package static var count: Int { self.groups.withLock { $0.all.count } }

  /// The group of a prefix.
  ///
  /// - Complexity: O(1), and O(*n*) in the groups when their number has doubled.
  static func of(client: OperationClient?, _ prefix: OperationPath, deadlines: any DeadlineSource) -> PaceGroup {
    let key = Key(client: client.map { ObjectIdentifier($0) }, prefix: prefix)
    let (group, removed) = self.groups.withLock { groups -> (PaceGroup, [PaceGroup]) in
      if let group = groups.all[key] { return (group, []) }
      let group = PaceGroup(on: deadlines)
      groups.all[key] = group
      return (group, groups.all.count > groups.bound ? Array(groups.all.values) : [])
    }
    if !removed.isEmpty { self.remove(removed.filter { $0 !== group && $0.isQuiet }) }
    return group
  }

  private static func remove(_ unused: [PaceGroup]) {
    let unused = Set(unused.map { ObjectIdentifier($0) })
    let former = self.groups.withLock { groups in
      let former = groups.all
      groups.all = former.filter { !unused.contains(ObjectIdentifier($0.value)) }
      groups.bound = max(64, 2 * groups.all.count)
      return former
    }
    _ = consume former  // Paths are released after unlocking.
  }

  /// Whether the next call would find nothing that it has to wait for.
  private var isQuiet: Bool {
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
