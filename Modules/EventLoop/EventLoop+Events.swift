#if os(Linux)
  internal import OperationPlatform

  extension EventLoop {
    /// The conditions of a descriptor that `poll` reports.
    package struct Events: OptionSet, Sendable {
      package let rawValue: CShort

      package init(rawValue: CShort) {
        self.rawValue = rawValue
      }

      /// Data can be read.
      package static let readable = Events(rawValue: CShort(POLLIN))

      /// Data can be written without waiting.
      package static let writable = Events(rawValue: CShort(POLLOUT))

      /// An exceptional condition: the meaning of `POLLPRI` depends on the kind of descriptor.
      package static let urgent = Events(rawValue: CShort(POLLPRI))

      /// An error has occurred.
      package static let error = Events(rawValue: CShort(POLLERR))

      /// The other end is closed.
      package static let hangUp = Events(rawValue: CShort(POLLHUP))

      /// The descriptor is not open.
      package static let invalid = Events(rawValue: CShort(POLLNVAL))
    }
  }
#endif
