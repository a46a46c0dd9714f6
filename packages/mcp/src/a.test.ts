import {it,expect} from 'vitest'; import {x} from '@quiver/core/tools'; it('a',()=>expect(x).toBe(1));
