import Foundation
import Operation

/// The state of a tree request in a store: the tree, its running loads, and its failures.
///
/// Its mutating methods depend on nothing but the state and their arguments, as the store replays them when it takes
/// the changes of a cancelled run back.
struct TreeState<NodeID: Hashable & Sendable, NodeValue: Sendable>: Sendable {
  typealias Branch = TreeBranch<NodeID, NodeValue>
  typealias Task = OperationTask<[Branch], any Error>

  let initialValue: Tree<NodeID, NodeValue>
  private(set) var currentValue: Tree<NodeID, NodeValue>
  private(set) var valueUpdateCount = 0
  private(set) var valueLastUpdatedAt: Date?
  private(set) var error: (any Error)?
  private(set) var errorUpdateCount = 0
  private(set) var errorLastUpdatedAt: Date?
  /// The running tasks, in the order in which they started.
  private(set) var activeTasks: [Task] = []
  private var branchErrors: [NodeID?: any Error] = [:]
  private var branchDates: [NodeID?: Date] = [:]

  init(initialValue: Tree<NodeID, NodeValue> = Tree()) {
    self.initialValue = initialValue
    self.currentValue = initialValue
  }
}

// MARK: - What readers ask

extension TreeState {
  /// Whether the children of a node are being loaded, alone or with all others.
  func isLoadingChildren(of parent: NodeID?) -> Bool {
    self.activeTasks.contains { task in
      switch task.part() {
      case .branch(let id): id == parent
      case .loaded: self.currentValue.children(of: parent) != nil || parent == nil
      }
    }
  }

  /// Why the children of a node could not be loaded the last time; nil when they could.
  func error(of parent: NodeID?) -> (any Error)? { self.branchErrors[parent] }
}

// MARK: - What the store calls

extension TreeState: OperationState {
  typealias OperationValue = [Branch]
  typealias Failure = any Error

  var isLoading: Bool { !self.activeTasks.isEmpty }
  var isPaused: Bool { self.activeTasks.contains { $0.isPaused } }
  var attempt: OperationAttempt? { self.activeTasks.reversed().lazy.compactMap(\.attempt).first }

  /// The tree is as old as its oldest branch.
  var oldestPartUpdatedAt: Date? {
    let parents = self.currentValue.loadedParents
    let dates = parents.compactMap { self.branchDates[$0] }
    return dates.count == parents.count ? dates.min() ?? self.valueLastUpdatedAt : nil
  }

  /// Two branches may load at once. A run that loads all of them waits for those under way, and holds later ones back,
  /// so that its result is never older than the tree.
  mutating func scheduleFetchTask(_ task: inout Task) {
    let loadsAll = task.part() == .loaded
    task.schedule(after: self.activeTasks.filter { loadsAll || $0.part() == .loaded })
    self.activeTasks.append(task)
  }

  mutating func updateFetchTask(_ task: Task) {
    if let index = self.activeTasks.firstIndex(where: { $0.id == task.id }) { self.activeTasks[index] = task }
  }

  mutating func finishFetchTask(_ task: Task) {
    self.activeTasks.removeAll { $0.id == task.id }
  }

  mutating func reset(using context: OperationContext) -> ResetEffect {
    let effect = ResetEffect(tasksToCancel: self.activeTasks)
    self = Self(initialValue: self.initialValue)
    return effect
  }

  mutating func update(with result: Result<Tree<NodeID, NodeValue>, any Error>, using context: OperationContext) {
    switch result {
    case .success(let tree):
      self.currentValue = tree
      self.branchErrors = [:]
      let date = context.operationClock.now()
      self.branchDates = Dictionary(uniqueKeysWithValues: tree.loadedParents.map { ($0, date) })
      self.noteValue(at: date)
    case .failure(let error): self.note(error, in: context)
    }
  }

  mutating func update(with result: Result<[Branch], any Error>, for task: Task) {
    switch result {
    case .success(let branches):
      let date = task.context.operationClock.now()
      for branch in branches {
        self.currentValue.setChildren(branch.children, of: branch.parent)
        self.branchErrors[branch.parent] = nil
        self.branchDates[branch.parent] = date
      }
      let parents = Set(self.currentValue.loadedParents)
      self.branchDates = self.branchDates.filter { parents.contains($0.key) }
      self.noteValue(at: date)
    case .failure(let error):
      if case .branch(let parent) = task.part() { self.branchErrors[parent] = error }
      self.note(error, in: task.context)
    }
  }

  /// A run that loads one branch of several does not answer an invalidation of the tree.
  func isRefreshed(by task: Task) -> Bool {
    switch task.part() {
    case .loaded: true
    case .branch(let parent): self.currentValue.loadedParents == [parent]
    }
  }

  private mutating func noteValue(at date: Date) {
    self.valueUpdateCount += 1
    self.valueLastUpdatedAt = date
    self.error = nil
  }

  private mutating func note(_ error: any Error, in context: OperationContext) {
    self.error = error
    self.errorUpdateCount += 1
    self.errorLastUpdatedAt = context.operationClock.now()
  }
}

/// With this, mutations can show their effect in a tree before the server has confirmed it.
extension TreeState: OverlayableState {
  mutating func replaceValue(with value: Tree<NodeID, NodeValue>) {
    self.currentValue = value
  }
}

extension OperationTask {
  /// What the task loads.
  fileprivate func part<NodeID, NodeValue>() -> TreePart<NodeID> where Value == [TreeBranch<NodeID, NodeValue>] {
    self.context.treePart(of: NodeID.self)
  }
}
