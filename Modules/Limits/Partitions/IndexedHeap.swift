/// Indices with keys, of which the one with the smallest key is known. A change takes O(log *n*).
package struct IndexedHeap<Key: Comparable & Sendable>: Sendable {
  private var items: [(index: Int, key: Key)] = []
  /// The position of each index in the heap; nil for an index without a key.
  private var positions: [Int?] = []

  package init() {}

  /// The index with the smallest key; nil without one.
  package var first: Int? { self.items.first?.index }

  /// Sets the key of an index, or removes it.
  package mutating func set(_ key: Key?, for index: Int) {
    if index >= self.positions.count {
      guard key != nil else { return }
      self.positions += [Int?](repeating: nil, count: index + 1 - self.positions.count)
    }
    switch (self.positions[index], key) {
    case (nil, nil): return
    case (nil, let key?):
      self.positions[index] = self.items.count
      self.items.append((index, key))
      self.siftUp(from: self.items.count - 1)
    case (let position?, let key?):
      self.items[position].key = key
      self.siftUp(from: position)
      self.siftDown(from: self.positions[index] ?? position)
    case (let position?, nil):
      self.swap(position, self.items.count - 1)
      self.items.removeLast()
      self.positions[index] = nil
      guard position < self.items.count else { return }
      let moved = self.items[position].index
      self.siftUp(from: position)
      self.siftDown(from: self.positions[moved] ?? position)
    }
  }

  private mutating func siftUp(from start: Int) {
    var child = start
    while child > 0, self.items[child].key < self.items[(child - 1) / 2].key {
      self.swap(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  private mutating func siftDown(from start: Int) {
    var parent = start
    while true {
      var smallest = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < self.items.count {
        if self.items[child].key < self.items[smallest].key { smallest = child }
      }
      guard smallest != parent else { return }
      self.swap(parent, smallest)
      parent = smallest
    }
  }

  private mutating func swap(_ one: Int, _ other: Int) {
    self.items.swapAt(one, other)
    self.positions[self.items[one].index] = one
    self.positions[self.items[other].index] = other
  }
}
