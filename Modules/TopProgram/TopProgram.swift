internal import OperationPlatform
internal import OperationTop

/// Shows the stores of a running program on a terminal.
@main
struct TopProgram {
  private static let usage = """
    Shows the stores of a running program, which serves OperationDevtools.

    usage: operation-top ADDRESS [--count N] [--interval SECONDS] [--sort path|rate|errors|age] [--filter TEXT]

    ADDRESS is what the program has printed: http://127.0.0.1:PORT/?token=TOKEN. On a terminal, press ? for the keys. Into a
    pipe it writes a table every second, or N of them.

    """

  static func main() {
    let arguments = Array(CommandLine.arguments.dropFirst())
    if arguments == ["--help"] || arguments == ["-h"] { return say(self.usage) }
    guard let settings = TopSettings(arguments) else { return fail(self.usage, status: 64) }
    do {
      let session = try TopSession(settings.address)
      if let terminal = Terminal(), settings.count == nil {
        try terminal.show(session, settings.view)
      } else {
        try Tables(session: session, settings: settings).write()
      }
    } catch {
      fail("operation-top: \(error)\n", status: 1)
    }
  }

  private static func fail(_ text: String, status: CInt) {
    let bytes = Array(text.utf8)
    _ = OperationPlatform.write(STDERR_FILENO, bytes, bytes.count)
    exit(status)
  }
}

/// Writes a text to the standard output, all of it.
func say(_ text: String) {
  var rest = Array(text.utf8)[...]
  while !rest.isEmpty {
    let count = rest.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
    // The reader has gone.
    guard count > 0 else { exit(0) }
    rest = rest.dropFirst(count)
  }
}

/// The seconds since 1970.
func currentDate() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_REALTIME, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// Waits until one of the descriptors can be read, for a number of milliseconds at most.
///
/// - Returns: Whether each of them can be read.
func wait(for descriptors: [CInt], milliseconds: Int) -> [Bool] {
  var polled = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
  _ = poll(&polled, nfds_t(polled.count), CInt(max(milliseconds, 0)))
  return polled.map { $0.revents != 0 }
}
