#if SwiftOperationDevtools
  internal import OperationPlatform

  /// A file to which the lines of a recording are added.
  struct RecordingFile: ~Copyable {
    private let descriptor: CInt
    /// The number of bytes that may be written yet.
    private var left: Int

    /// Makes the file, or empties the one that is there. Only its owner can read it.
    init(path: String, limit: Int) throws(DevtoolsError) {
      self.descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
      self.left = limit
      guard self.descriptor >= 0 else {
        throw .unwritten("The file \(path)")
      }
    }

    deinit {
      close(self.descriptor)
    }

    /// Writes text.
    ///
    /// - Parameter text: Whole lines.
    /// - Returns: Whether there is room for more.
    /// - Throws: An error if the file cannot be written.
    mutating func add(_ text: String) throws(DevtoolsError) -> Bool {
      var rest = Array(text.utf8)[...]
      guard rest.count <= self.left else { return false }
      self.left -= rest.count
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { write(self.descriptor, $0.baseAddress, $0.count) }
        guard count > 0 else {
          throw .unwritten("The recording")
        }
        rest = rest.dropFirst(count)
      }
      return true
    }
  }

  extension DevtoolsError {
    /// With the words of the system for the last error of a call.
    fileprivate static func unwritten(_ what: String) -> DevtoolsError {
      DevtoolsError(
        code: .recordingNotWritten,
        description: "\(what) cannot be written: \(String(cString: strerror(errno)))."
      )
    }
  }
#endif
