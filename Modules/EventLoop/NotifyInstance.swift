#if os(Linux)
  internal import OperationPlatform

  /// An `inotify` instance, closed with its last reference.
  final class NotifyInstance: Sendable {
    let descriptor: CInt

    /// Nil when the limit of instances or of descriptors is reached.
    init?() {
      self.descriptor = inotify_init1(CInt(IN_CLOEXEC) | CInt(IN_NONBLOCK))
      guard self.descriptor >= 0 else { return nil }
    }

    deinit {
      close(self.descriptor)
    }

    /// Adds a watch for a file; nil if the file does not exist or the limit of watches is reached.
    func add(_ path: String) -> CInt? {
      let mask = UInt32(IN_MODIFY) | UInt32(IN_ATTRIB) | UInt32(IN_MOVE_SELF) | UInt32(IN_DELETE_SELF)
      let watch = inotify_add_watch(self.descriptor, path, mask)
      return watch >= 0 ? watch : nil
    }

    func remove(_ watch: CInt) {
      _ = inotify_rm_watch(self.descriptor, watch)
    }

    /// Reads all pending events.
    func read() -> [NotifyEvent] {
      var events: [NotifyEvent] = []
      withUnsafeTemporaryAllocation(byteCount: 4_096, alignment: 8) { buffer in
        while true {
          let count = readBytes(self.descriptor, buffer)
          if count < 0 && errno == EINTR { continue }
          guard count > 0 else { return }
          events += NotifyEvent.all(in: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
      }
      return events
    }
  }

  private func readBytes(_ descriptor: CInt, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
    read(descriptor, buffer.baseAddress, buffer.count)
  }

  /// An event of an `inotify` instance.
  struct NotifyEvent: Hashable, Sendable {
    let descriptor: CInt
    let mask: UInt32

    /// Whether events have been lost because the kernel's queue was full.
    var isOverrun: Bool { self.mask & UInt32(IN_Q_OVERFLOW) != 0 }

    /// Whether the path may now lead to another file or to none.
    var mayBeAnotherFile: Bool { self.mask & ~UInt32(IN_MODIFY) != 0 }

    /// Parses the events that the kernel has written: descriptor, mask, cookie, and the length of a name that follows.
    static func all(in bytes: UnsafeRawBufferPointer) -> [NotifyEvent] {
      var events: [NotifyEvent] = []
      var offset = 0
      while bytes.count - offset >= 16 {
        events.append(
          NotifyEvent(
            descriptor: bytes.loadUnaligned(fromByteOffset: offset, as: CInt.self),
            mask: bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
          )
        )
        offset += 16 + Int(bytes.loadUnaligned(fromByteOffset: offset + 12, as: UInt32.self))
      }
      return events
    }
  }
#endif
