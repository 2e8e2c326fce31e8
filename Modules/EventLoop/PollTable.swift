#if os(Linux)
  internal import OperationPlatform

  /// The watched descriptors in the layout that `poll` takes. Inserting and removing take constant time.
  struct PollTable {
    private(set) var descriptors: [pollfd] = []
    private(set) var entries: [Entry] = []
    /// Increases with each change of the table, so that a copy can tell whether it is current.
    private(set) var version: UInt64 = 0

    mutating func insert(_ entry: Entry, descriptor: CInt, events: EventLoop.Events) {
      entry.position = self.entries.count
      self.entries.append(entry)
      self.descriptors.append(pollfd(fd: descriptor, events: events.rawValue, revents: 0))
      self.version += 1
    }

    /// Does nothing if the entry is not in the table.
    mutating func remove(_ entry: Entry) {
      guard let position = entry.position else { return }
      entry.position = nil
      let (last, lastDescriptor) = (self.entries.removeLast(), self.descriptors.removeLast())
      self.version += 1
      guard last !== entry else { return }
      last.position = position
      self.entries[position] = last
      self.descriptors[position] = lastDescriptor
    }
  }

  /// The arguments of one call of `poll`: the pipe of the thread first, then a copy of the table.
  struct PollSet {
    private var descriptors: [pollfd]
    private var entries: [Entry] = []
    private var version: UInt64 = 0

    init(pipe: borrowing WakePipe) {
      self.descriptors = [pollfd(fd: pipe.reader, events: CShort(POLLIN), revents: 0)]
    }

    /// Whether the pipe ended the last wait.
    var isWoken: Bool { self.descriptors[0].revents != 0 }

    mutating func update(from table: PollTable) {
      guard table.version != self.version else { return }
      self.descriptors.replaceSubrange(1..., with: table.descriptors)
      self.entries = table.entries
      self.version = table.version
    }

    /// Waits for events, and returns the entries that have any.
    mutating func wait(timeout: CInt) -> [(Entry, EventLoop.Events)] {
      guard poll(&self.descriptors, nfds_t(self.descriptors.count), timeout) >= 0 else {
        // More descriptors than the process may open, or too little memory. Waits up to a second, so that the loop does
        // not spin.
        if errno != EINTR { _ = poll(&self.descriptors, 1, timeout < 0 ? 1000 : min(timeout, 1000)) }
        return []
      }
      var ready: [(Entry, EventLoop.Events)] = []
      for index in 1..<self.descriptors.count where self.descriptors[index].revents != 0 {
        ready.append((self.entries[index - 1], EventLoop.Events(rawValue: self.descriptors[index].revents)))
      }
      return ready
    }
  }
#endif
