internal import OperationCore

/// Runs that wait for each other.
struct WaitCycle: Sendable {
  /// Why a run waits for the next one.
  enum Reason: Sendable {
    case value
    case dependency
    case vital
    case barrier
    case groupBeginning
    case groupMember
    case empty(SchedulerCore)
    case category(String, isHeld: Bool)
    case unique(String)
  }

  /// A run that waits, and the reason for which it waits for the next one.
  struct Link: Sendable {
    let waiter: WaitVertex
    let reason: Reason
  }

  /// The runs. The last one waits for the first one.
  var links: [Link]

  /// Reports the cycle, and returns the error of the operation that would close it.
  ///
  /// Not called under a lock, as names may be computed by code of users.
  func report() -> OperationCycleError {
    let error = self.error
    error.report()
    return error
  }

  private var error: OperationCycleError {
    let names = self.links.map(\.waiter.name)
    var list: [String] = []
    var text = names[0]
    for (index, link) in self.links.enumerated() {
      if list.last != names[index] { list.append(names[index]) }
      if case .empty(let core) = link.reason { list.append(core.name) }
      if index > 0 { text += self.links[index - 1].reason.endsWithName ? ", which" : "; \(names[index])" }
      text += " " + link.reason.text(names[(index + 1) % names.count])
    }
    // The name of a run that is called is the first one.
    if case .value = self.links[0].reason, list.count > 1 { list.append(list.removeFirst()) }
    if list.count == 1 || list.last != list[0] { list.append(list[0]) }
    return OperationCycleError(operationNames: list, waits: text)
  }
}

extension WaitCycle.Reason {
  /// Whether the text ends with the name of the run that is waited for.
  fileprivate var endsWithName: Bool {
    switch self {
    case .value, .dependency, .vital, .barrier, .groupBeginning, .groupMember, .empty: true
    case .category, .unique: false
    }
  }

  fileprivate func text(_ next: String) -> String {
    switch self {
    case .value: "waits for the value of \(next)"
    case .dependency: "waits for \(next)"
    case .vital: "is held back by \(next)"
    case .barrier: "comes as a barrier after \(next)"
    case .groupBeginning: "waits for the beginning of \(next)"
    case .groupMember: "waits for its operation \(next)"
    case .empty(let core): "waits until \(core.name) is empty, which has \(next)"
    case .category(let name, true): "waits for the category \(name), which \(next) holds"
    case .category(let name, false): "waits for the category \(name), for which \(next) waits before it"
    case .unique(let name): "waits for the unique work \(name), which \(next) does before it"
    }
  }
}

/// A run that waits, or is waited for.
enum WaitVertex: Sendable {
  /// The end of a scheduled operation.
  case end(ScheduledNode)
  /// The beginning of a scheduled operation.
  case beginning(ScheduledNode)
  /// The end of a run that holds categories, or of unique work outside of a scheduler.
  case run(RunScope)

  /// The end of a run.
  init(_ scope: RunScope) {
    self = scope.node.map { .end($0) } ?? .run(scope)
  }

  /// The name that a user gave. Not called under a lock.
  fileprivate var name: String {
    switch self {
    case .end(let node), .beginning(let node): node.name
    case .run(let scope): scope.name
    }
  }
}

extension RunScope {
  /// The name of the operation. Not called under a lock: it is user code.
  var name: String {
    if let name = self.node?.name ?? self.explicitName { return name }
    var scope = self.parent
    while let current = scope {
      // A scheduled operation that holds categories has a scope for them inside of its own.
      if let node = current.node {
        if node.operationType.unmodifiedType == self.operationType.unmodifiedType { return node.name }
        break
      }
      scope = current.parent
    }
    return OperationName.of(self.operationType.unmodifiedType)
  }
}
