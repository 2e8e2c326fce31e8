#if os(Linux)
  #if canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #endif

  extension EventLoop {
    /// What can be said of a descriptor.
    package struct Events: OptionSet, Sendable {
      package let rawValue: CShort

      package init(rawValue: CShort) {
        self.rawValue = rawValue
      }

      /// There is something to read.
      package static let readable = Events(rawValue: CShort(POLLIN))

      /// There is something out of the ordinary: what `POLLPRI` means depends on the kind of descriptor.
      package static let urgent = Events(rawValue: CShort(POLLPRI))

      /// An error holds.
      package static let error = Events(rawValue: CShort(POLLERR))

      /// The other side is gone.
      package static let hangUp = Events(rawValue: CShort(POLLHUP))

      /// The descriptor is not open.
      package static let invalid = Events(rawValue: CShort(POLLNVAL))
    }
  }
#endif
