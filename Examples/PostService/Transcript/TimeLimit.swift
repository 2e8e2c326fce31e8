import Foundation

/// Ends a story that hangs, so that an unattended run gets an exit code.
package enum TimeLimit {
  package static func start(seconds: Int, transcript: Transcript) {
    // A thread of its own: it must fire even when every thread of the pool is stuck.
    let thread = Thread {
      Thread.sleep(forTimeInterval: Double(seconds))
      transcript.fail("the story was not over after \(seconds) s")
      _ = transcript.close()
      exit(EXIT_FAILURE)
    }
    thread.start()
  }
}
