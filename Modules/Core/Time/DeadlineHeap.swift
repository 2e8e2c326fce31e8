/// A pending deadline of a ``DeadlineQueue``.
///
/// The lock of the queue guards its fields.
package final class Deadline: @unchecked Sendable {
  // Unchecked because the mutable fields below are accessed only under the lock of the queue that created the deadline.
  let instant: ContinuousClock.Instant
  var action: (@Sendable () -> Void)?
  var position: Int?

  init(instant: ContinuousClock.Instant, action: @escaping @Sendable () -> Void) {
    self.instant = instant
    self.action = action
  }
}

/// A binary heap of deadlines, earliest first. Each deadline stores its position, so that it can be removed from
/// anywhere.
struct DeadlineHeap: Sendable {
  private var items: [Deadline] = []

  var first: Deadline? { self.items.first }
  var count: Int { self.items.count }

  mutating func insert(_ deadline: Deadline) {
    self.items.append(deadline)
    deadline.position = self.items.count - 1
    self.siftUp(from: self.items.count - 1)
  }

  /// Removes a deadline in O(log n). Does nothing if the heap does not contain it.
  mutating func remove(_ deadline: Deadline) {
    guard let position = deadline.position else { return }
    deadline.position = nil
    let last = self.items.removeLast()
    guard last !== deadline else { return }
    self.items[position] = last
    last.position = position
    self.siftUp(from: position)
    self.siftDown(from: last.position ?? position)
  }

  private mutating func siftUp(from start: Int) {
    var child = start
    while child > 0 {
      let parent = (child - 1) / 2
      guard self.items[child].instant < self.items[parent].instant else { return }
      self.swap(child, parent)
      child = parent
    }
  }

  private mutating func siftDown(from start: Int) {
    var parent = start
    while true {
      var earliest = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < self.items.count {
        if self.items[child].instant < self.items[earliest].instant { earliest = child }
      }
      guard earliest != parent else { return }
      self.swap(parent, earliest)
      parent = earliest
    }
  }

  private mutating func swap(_ i: Int, _ j: Int) {
    self.items.swapAt(i, j)
    self.items[i].position = i
    self.items[j].position = j
  }
}
