#if os(Linux)
  #if canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #endif

  /// A pipe to oneself: what is written to it ends a wait for the other end.
  struct WakePipe: ~Copyable, Sendable {
    let reader: CInt
    let writer: CInt

    init() throws(LoopFailure) {
      var ends: [CInt] = [-1, -1]
      guard pipe(&ends) == 0 else { throw LoopFailure(call: "pipe", code: errno) }
      (self.reader, self.writer) = (ends[0], ends[1])
      for end in ends {
        _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        _ = fcntl(end, F_SETFL, O_NONBLOCK)
      }
    }

    deinit {
      close(self.reader)
      close(self.writer)
    }

    func wake() {
      var byte: UInt8 = 1
      // A full pipe wakes as well.
      _ = write(self.writer, &byte, 1)
    }

    func drain() {
      var bytes: (UInt64, UInt64) = (0, 0)
      while withUnsafeMutableBytes(of: &bytes, { read(self.reader, $0.baseAddress, $0.count) }) > 0 {}
    }
  }
#endif
