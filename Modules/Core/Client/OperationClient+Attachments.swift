extension OperationClient {
  /// Returns the object of a type that a module keeps with the client, and makes it at the first call.
  ///
  /// The object lives as long as the client. It must not keep the client alive.
  ///
  /// - Parameter make: Makes the object, with no lock held. When several threads make one, all get the same.
  /// - Returns: The object.
  public func attachment<Object: AnyObject & Sendable>(_ make: () -> Object) -> Object {
    if let object = self.attachment(of: Object.self) { return object }
    let made = make()
    return self.attachments.withLock { attachments in
      if let object = attachments[ObjectIdentifier(Object.self)] { return object }
      attachments[ObjectIdentifier(Object.self)] = made
      return made
    } as? Object ?? made
  }

  /// Looks up the object of a type that a module keeps with the client.
  ///
  /// - Parameter type: The type of the object.
  /// - Returns: The object; nil if there is none.
  public func attachment<Object: AnyObject & Sendable>(of type: Object.Type) -> Object? {
    self.attachments.withLock { $0[ObjectIdentifier(type)] } as? Object
  }

  /// Keeps an object with the client, and releases the previous object of its type.
  ///
  /// - Parameter object: The object, which must not keep the client alive.
  public func attach<Object: AnyObject & Sendable>(_ object: Object) {
    self.attachments.withLock { attachments, released in
      released.append(attachments.updateValue(object, forKey: ObjectIdentifier(Object.self)))
    }
  }
}
