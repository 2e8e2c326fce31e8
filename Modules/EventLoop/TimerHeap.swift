#if os(Linux)
  /// A binary heap of timers: the earliest first, and of two at the same time the one that came first.
  struct TimerHeap {
    private var items: [Entry] = []

    var first: Entry? { self.items.first }

    mutating func insert(_ entry: Entry) {
      entry.position = self.items.count
      self.items.append(entry)
      self.siftUp(from: self.items.count - 1)
    }

    /// Takes an entry out in O(log n). Does nothing when it is not there.
    mutating func remove(_ entry: Entry) {
      guard let position = entry.position else { return }
      entry.position = nil
      let last = self.items.removeLast()
      guard last !== entry else { return }
      self.items[position] = last
      last.position = position
      self.siftUp(from: position)
      self.siftDown(from: last.position ?? position)
    }

    private mutating func siftUp(from start: Int) {
      var child = start
      while child > 0 {
        let parent = (child - 1) / 2
        guard self.items[child].isEarlier(than: self.items[parent]) else { return }
        self.swap(child, parent)
        child = parent
      }
    }

    private mutating func siftDown(from start: Int) {
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

    private mutating func swap(_ i: Int, _ j: Int) {
      self.items.swapAt(i, j)
      self.items[i].position = i
      self.items[j].position = j
    }
  }

  extension Entry {
    fileprivate func isEarlier(than other: Entry) -> Bool {
      (self.due, self.number) < (other.due, other.number)
    }
  }
#endif
