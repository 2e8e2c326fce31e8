internal import OperationCore
internal import Synchronization

/// The queue of one category. Equal categories share a lane while anything refers to it.
///
/// Operations look their lanes up when they are created, and not in each run.
final class CategoryLane: Sendable {
  let category: OperationCategory
  /// The index of the lane in the exclusion machine.
  let slot: Int
  private let hash: Int
  /// A number that no other lane has, not even one that is dropped because another thread was faster.
  private let id = CategoryLane.lastID.add(1, ordering: .relaxed).newValue

  private init(category: OperationCategory, hash: Int) {
    self.category = category
    self.hash = hash
    self.slot = ExclusionLock.addLane()
  }

  deinit {
    ExclusionLock.removeLane(self.slot)
    Self.registry.withLock { $0.remove(self.id, hash: self.hash) }
  }
}

extension CategoryLane {
  private struct Entry: Sendable {
    let id: UInt64
    weak let lane: CategoryLane?
  }

  /// The lanes by the hash of their categories, which are values of users and must not be compared under the lock.
  private struct Registry: Sendable {
    var entries: [Int: [Entry]] = [:]
    /// Counts the additions, so that a search without the lock notices that it is outdated.
    var version: UInt64 = 0

    mutating func remove(_ id: UInt64, hash: Int) {
      self.entries[hash]?.removeAll { $0.id == id }
      if self.entries[hash]?.isEmpty == true { self.entries[hash] = nil }
    }
  }

  private static let registry = Locked(Registry())
  private static let lastID = Atomic<UInt64>(0)

  /// The number of categories that are in use.
  static var count: Int { self.registry.withLock { $0.entries.values.reduce(0) { $0 + $1.count } } }

  /// The lanes of `categories`, without duplicates.
  static func lanes(of categories: some Sequence<OperationCategory>) -> [CategoryLane] {
    var lanes: [CategoryLane] = []
    for category in categories {
      let lane = self.lane(of: category)
      if !lanes.contains(where: { $0 === lane }) { lanes.append(lane) }
    }
    return lanes
  }

  private static func lane(of category: OperationCategory) -> CategoryLane {
    let hash = category.hashValue
    while true {
      let (known, version) = self.registry.withLock { registry in
        ((registry.entries[hash] ?? []).compactMap(\.lane), registry.version)
      }
      if let lane = known.first(where: { $0.category == category }) { return lane }
      let lane = CategoryLane(category: category, hash: hash)
      let isAdded = self.registry.withLock { registry in
        guard registry.version == version else { return false }
        registry.version += 1
        registry.entries[hash, default: []].append(Entry(id: lane.id, lane: lane))
        return true
      }
      if isAdded { return lane }
    }
  }
}
