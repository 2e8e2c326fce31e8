#if os(Linux)
  import Glibc
  import OperationEventLoop
  import TestFixtures
  import Testing

  @testable import OperationMemoryPressure

  @Suite(.bounded) struct StreamInputTests {
    /// `F_SETPIPE_SZ`, which is not imported.
    private static let setPipeSize: CInt = 1_031

    @Test func `Long input is read in parts, so that it does not delay other inputs`() throws {
      let tree = try FakeTree()
      let path = tree.path("pipe")
      try #require(mkfifo(path, 0o600) == 0)
      let input = try StreamInput.pipe(path: path, writing: [])
      try #require(fcntl(input.descriptor, Self.setPipeSize, CInt(256 << 10)) >= 256 << 10)
      let bytes = [UInt8](repeating: 1, count: 160 << 10)
      try #require(write(input.descriptor, bytes, bytes.count) == bytes.count)
      for left in [96 << 10, 32 << 10, 0] {
        expect(input.read([.readable], at: .zero), equals: .pressure(.warning))
        var count: CInt = -1
        try #require(ioctl(input.descriptor, UInt(FIONREAD), &count) == 0)
        #expect(count == left)
      }
      expect(input.read([.readable], at: .zero), equals: .nothing)
    }
  }
#endif
