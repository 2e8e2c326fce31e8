import Foundation

/// Calls a closure for each ^C, instead of ending the process.
struct Interrupts {
  // A signal handler may do little more than write to a pipe.
  private static let pipe: (output: Int32, input: Int32) = {
    var ends: [Int32] = [0, 0]
    guard Foundation.pipe(&ends) == 0 else { fatalError("the process has no file descriptor left for a pipe") }
    return (ends[0], ends[1])
  }()

  init(_ onInterrupt: @escaping @Sendable () -> Void) {
    let output = Self.pipe.output
    let thread = Thread {
      var byte: UInt8 = 0
      while read(output, &byte, 1) == 1 { onInterrupt() }
    }
    thread.start()
    signal(SIGINT) { _ in
      var byte: UInt8 = 0
      _ = write(Interrupts.pipe.input, &byte, 1)
    }
  }

  func stop() {
    signal(SIGINT, SIG_DFL)
  }
}
