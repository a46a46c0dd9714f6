export interface ExtractParams {}
