/// An element of a ``DeadlineHeap``.
///
/// It is in at most one heap at a time. The lock that guards the heap guards its position, too.
@usableFromInline
package protocol DeadlineHeapElement: AnyObject {
  /// The position in the heap; nil while the element is in no heap. Only the heap sets it.
  var position: Int? { get set }

  /// Whether the heap returns this element before `other`.
  func isEarlier(than other: Self) -> Bool
}

/// A binary heap of deadlines, earliest first. Each element stores its position, so that any element can be removed.
@usableFromInline
package struct DeadlineHeap<Element: DeadlineHeapElement> {
  @usableFromInline var items: [Element] = []

  @inlinable
  package init() {}

  @inlinable
  package var first: Element? { self.items.first }

  @inlinable
  package var count: Int { self.items.count }

  @inlinable
  package mutating func insert(_ element: Element) {
    self.items.append(element)
    element.position = self.items.count - 1
    self.siftUp(from: self.items.count - 1)
  }

  /// Removes an element in O(log n). Does nothing if the heap does not contain it.
  @inlinable
  package mutating func remove(_ element: Element) {
    guard let position = element.position else { return }
    element.position = nil
    let last = self.items.removeLast()
    guard last !== element else { return }
    self.items[position] = last
    last.position = position
    self.siftUp(from: position)
    self.siftDown(from: last.position ?? position)
  }

  @inlinable
  mutating func siftUp(from start: Int) {
    var child = start
    while child > 0 {
      let parent = (child - 1) / 2
      guard self.items[child].isEarlier(than: self.items[parent]) else { return }
      self.swap(child, parent)
      child = parent
    }
  }

  @inlinable
  mutating func siftDown(from start: Int) {
    var parent = start
    while true {
      var earliest = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < self.items.count {
        if self.items[child].isEarlier(than: self.items[earliest]) { earliest = child }
      }
      guard earliest != parent else { return }
      self.swap(parent, earliest)
      parent = earliest
    }
  }

  @inlinable
  mutating func swap(_ i: Int, _ j: Int) {
    self.items.swapAt(i, j)
    self.items[i].position = i
    self.items[j].position = j
  }
}

extension DeadlineHeap: Sendable where Element: Sendable {}
