#if os(Linux)
  internal import OperationPlatform

  /// A pipe within the process: a byte written to it wakes the thread that waits for the other end.
  ///
  /// No child process inherits it, not even one that another thread starts at the same moment. It is a socket pair,
  /// because `pipe2`, which creates a pipe with these flags, cannot be imported.
  package struct WakePipe: ~Copyable, Sendable {
    package let reader: CInt
    package let writer: CInt

    package init() throws(SystemFailure) {
      let type = SocketType.stream | SocketType.closeOnExec | SocketType.nonblocking
      var ends: [CInt] = [-1, -1]
      guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw SystemFailure(call: "socketpair", code: errno) }
      (self.reader, self.writer) = (ends[0], ends[1])
    }

    deinit {
      close(self.reader)
      close(self.writer)
    }

    func wake() {
      var byte: UInt8 = 1
      // If the pipe is full the write fails, but the pending bytes wake the thread.
      _ = write(self.writer, &byte, 1)
    }

    package func drain() {
      var bytes: (UInt64, UInt64) = (0, 0)
      while withUnsafeMutableBytes(of: &bytes, { read(self.reader, $0.baseAddress, $0.count) }) > 0 {}
    }
  }
#endif
